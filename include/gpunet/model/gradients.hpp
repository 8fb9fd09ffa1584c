// The gradients of a model's parameters.
#pragma once

#include <gpunet/ops/map.hpp>
#include <gpunet/ops/slice.hpp>
#include <gpunet/tensor/buffer.hpp>

namespace gpunet {

// gradient[i] += the sum of partial[k][i], k in order. One index = one parameter.
template <class T>
struct AddPartials {
  index_t partials, size;
  const T* partial;
  T* gradient;
  GPUNET_FN void operator()(index_t i) const {
    T sum = gradient[i];
    for (index_t k = 0; k < partials; ++k)
      sum += partial[k * size + i];
    gradient[i] = sum;
  }
};

// One arena of gradients, and a partial one for each further run of slices (see Slicing::runs).
template <class T, class D>
class Gradients {
 public:
  Gradients(D& device, index_t size) : size_(size), sum_(device, size) { fill(device, size, T{}, sum_.data()); }

  void reserve(D& device, index_t runs) {
    const index_t need = (runs - 1) * size_;
    if (partial_.size() >= need) return;
    partial_.reset(device, need);
    fill(device, need, T{}, partial_.data());  // layers do not write the gaps between their parameters
  }

  // Where run r adds up its gradients.
  T* of_run(index_t r) const { return r == 0 ? sum_.data() : partial_.data() + (r - 1) * size_; }

  // How slice s of run r stores its gradients: the first one of a run replaces, except that after an earlier
  // backward pass without zero_grad() in between run 0 goes on adding.
  Accumulate mode(index_t r, bool first_of_run) const {
    return !first_of_run || (r == 0 && !zeroed_) ? Accumulate::yes : Accumulate::no;
  }

  // Adds the partial sums of all runs, once every run is done.
  void finish(D& device, index_t runs) {
    if (runs > 1) for_each(device, size_, AddPartials<T>{runs - 1, size_, partial_.data(), sum_.data()});
    zeroed_ = false;
  }

  // Makes the next backward pass replace what is there; costs nothing.
  void zero() { zeroed_ = true; }
  // Whether there has been no backward pass since zero().
  bool zeroed() const { return zeroed_; }

  T* data() const { return sum_.data(); }
  index_t size() const { return size_; }

 private:
  index_t size_;
  Buffer<T, D> sum_, partial_;
  bool zeroed_ = true;
};

}  // namespace gpunet
