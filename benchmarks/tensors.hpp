// Functions of tensors as work.
#pragma once

#include <gpunet/tensors.hpp>

#include "work.hpp"

namespace bench {

using Floats = gpunet::Tensor<float, Host>;

// A function of two tensors of one shape, which makes a tensor.
template <Floats (*compute)(const Floats& a, const Floats& b)>
class TensorFunction : public Work {
 public:
  TensorFunction(Host& device, const gpunet::Sizes& sizes)
      : a_(spread_tensor(device, sizes, spread_value)),
        b_(spread_tensor(device, sizes, spread_square)) {}

  void run(index_t steps) override {
    for (index_t i = 0; i < steps; ++i)
      result_ = compute(a_, b_);
  }
  double value() const override { return gpunet::mean(result_).item(); }

 private:
  Floats a_, b_, result_;
};

// Five operations, element by element.
inline Floats chain(const Floats& a, const Floats& b) {
  return sqrt(abs(a * b + 2.5f) - b);
}
inline Floats row_sums(const Floats& a, const Floats&) {
  return sum(a, 1);
}
inline Floats column_sums(const Floats& a, const Floats&) {
  return sum(a, 0);
}
inline Floats product_of_tensors(const Floats& a, const Floats& b) {
  return matmul(a, b);
}
inline Floats sorted_elements(const Floats& a, const Floats&) {
  return sort(a).values;
}

}  // namespace bench
