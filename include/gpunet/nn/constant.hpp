// Tensors in functions of values, where they are constants:
//   Network net(host, [&](nn::Value x) { return linear(x, 8) + positions; }, {16, 4});
#pragma once

#include <vector>

#include <gpunet/nn/value.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet::nn {

// The numbers of a tensor, a view or an expression on any device: the argument of functions that
// make a constant of it.
class Constant {
 public:
  // Copy the elements, of any type; implicit, so that x * mask takes a tensor.
  template <class T, class D>
  Constant(const Tensor<T, D>& tensor) : Constant(tensor.sizes(), tensor.to_vector()) {}
  template <class T, class D>
  Constant(const StridedView<T, D>& view) : Constant(view.contiguous()) {}
  template <class T, class D>
  Constant(Expression<T, D>&& expression) : Constant(std::move(expression).eval()) {}
  template <class T>
  Constant(const View<T, Host>& view)
      : Constant(view.sizes(), std::vector<double>(view.data(), view.data() + view.numel())) {}

  const Sizes& sizes() const { return sizes_; }
  // The elements in row-major order.
  const std::vector<double>& values() const { return values_; }
  // Returns `yes` where this is not 0, else `no`.
  Constant chosen(double yes, double no) const {
    Constant result = *this;
    for (double& value : result.values_)
      value = value != 0 ? yes : no;
    return result;
  }

 private:
  template <class T>
  Constant(const Sizes& sizes, const std::vector<T>& values)
      : sizes_(sizes), values_(values.begin(), values.end()) {}

  Sizes sizes_;
  std::vector<double> values_;
};

// Returns a tensor [...] as a value [batch, ...] of the network that x is in, the same for all
// samples: a buffer of PyTorch that is registered with persistent=False. The network stores a copy
// on its device, of its element type. It is no parameter, is in no file and gets no gradient.
// Throws Error for a tensor without elements, or with the rank of a value with its batch.
Value constant(const Value& x, const Constant& tensor);

inline namespace GPUNET_BACKENDS {

// Element by element. The tensor is [...] as a sample or, as in PyTorch, [1, ...] with the batch;
// shapes are aligned at their last dimension, and an extent of 1 is repeated. Throw Error for
// shapes that do not fit.
Value operator+(const Value& x, const Constant& tensor);
Value operator+(const Constant& tensor, const Value& x);
Value operator-(const Value& x, const Constant& tensor);
Value operator-(const Constant& tensor, const Value& x);
Value operator*(const Value& x, const Constant& tensor);
Value operator*(const Constant& tensor, const Value& x);
Value operator/(const Value& x, const Constant& tensor);
Value operator/(const Constant& tensor, const Value& x);
Value maximum(const Value& x, const Constant& tensor);
Value minimum(const Value& x, const Constant& tensor);
Value max(const Value& x, const Constant& tensor);
Value min(const Value& x, const Constant& tensor);

// Returns x with `number` where the mask is not 0: masked_fill(scores, mask, -inf). x has to be
// finite there. Of a network that stores float16, the number has to be infinite, or 65504 or less.
Value masked_fill(const Value& x, const Constant& mask, double number);
// Returns a where the mask is not 0, else b. Both have to be finite.
Value where(const Constant& mask, const Value& a, const Value& b);

}  // namespace GPUNET_BACKENDS
}  // namespace gpunet::nn

#if !GPUNET_COMPILED
#include <gpunet/nn/constant.ipp>
#endif
