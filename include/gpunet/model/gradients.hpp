// The gradients of a model's parameters.
#pragma once

#include <algorithm>

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

// One arena of gradients, and as many partial ones as slices are summed side by side. How slices share partial sums
// depends on their number alone, so the result has the same bits for any number of threads.
template <class T, class D>
class Gradients {
 public:
  static constexpr index_t most_partials = 8;

  Gradients(D& device, index_t size) : size_(size), sum_(device, size) { fill(device, size, T{}, sum_.data()); }

  // Into how many runs of neighbouring slices a batch of `slices` is cut.
  static index_t runs(index_t slices) { return std::min(slices, most_partials); }
  // The first slice of run r.
  static index_t first_slice(index_t r, index_t slices) { return r * slices / runs(slices); }

  void reserve(D& device, index_t slices) {
    const index_t need = (runs(slices) - 1) * size_;
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
  void finish(D& device, index_t slices) {
    if (const index_t partials = runs(slices) - 1; partials > 0)
      for_each(device, size_, AddPartials<T>{partials, size_, partial_.data(), sum_.data()});
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
