// Bodies of constant.hpp. gpunet::compiled and gpunet::cuda both contain them: the latter also
// chooses kernels of Cuda.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/nn/constant.hpp>
#include <gpunet/nn/value_math.hpp>
#include <gpunet/ops/sources.hpp>

namespace gpunet::nn {

namespace detail {
inline namespace GPUNET_BACKENDS {

GPUNET_BACKENDS_INLINE void require_elements(std::string_view function, const Value& x,
                                             const Constant& tensor) {
  require_same_network(function, std::span(&x, 1));
  require(tensor.sizes().numel() > 0, "gpunet::nn::", function, ": a tensor of shape ",
          to_string(tensor.sizes()), " (want 1 element or more), give one with elements");
}

// Returns the elements of a tensor as a value of these sizes; `name`: the node's.
GPUNET_BACKENDS_INLINE Value constant_node(std::string_view name, const Value& x,
                                           const Sizes& sizes, const Constant& tensor) {
  const ConstantOp op{x.builder().add_constants(tensor.values())};
  return add_node<ConstantOp>(name, op, Value(x.shared_builder(), GraphBuilder::input), sizes);
}

// Returns the tensor as an operand beside x, to whose samples its shape is aligned.
GPUNET_BACKENDS_INLINE Value operand_beside(std::string_view function, const Value& x,
                                            const Constant& tensor,
                                            std::string_view name = "constant") {
  require_elements(function, x, tensor);
  const Sizes& all = tensor.sizes();
  const Sizes sizes = all.rank() == x.dim() && all[0] == 1 ? all.tail() : all;
  require(sizes.rank() < x.dim() && broadcast_shapes(x.sizes(), sizes).has_value(),
          "gpunet::nn::", function, ": a value of shape ", shape_text(x.sizes()),
          " and a tensor of shape ", to_string(all),
          " (want the same extents, counted from the last dimension, or 1, and 1 or none for the "
          "batch), reshape one of them");
  return constant_node(name, x, sizes, tensor);
}

}  // namespace GPUNET_BACKENDS
}  // namespace detail

GPUNET_BACKENDS_INLINE Value constant(const Value& x, const Constant& tensor) {
  detail::require_elements("constant", x, tensor);
  require(tensor.sizes().rank() < Sizes::max_rank, "gpunet::nn::constant: a tensor of shape ",
          to_string(tensor.sizes()), " (want ", Sizes::max_rank - 1,
          " dimensions or fewer, the batch is one more), reshape it");
  return detail::constant_node("constant", x, tensor.sizes(), tensor);
}

inline namespace GPUNET_BACKENDS {

GPUNET_BACKENDS_INLINE Value operator+(const Value& x, const Constant& tensor) {
  return x + detail::operand_beside("add", x, tensor);
}
GPUNET_BACKENDS_INLINE Value operator+(const Constant& tensor, const Value& x) {
  return x + tensor;
}
GPUNET_BACKENDS_INLINE Value operator-(const Value& x, const Constant& tensor) {
  return x - detail::operand_beside("sub", x, tensor);
}
GPUNET_BACKENDS_INLINE Value operator-(const Constant& tensor, const Value& x) {
  return detail::operand_beside("sub", x, tensor) - x;
}
GPUNET_BACKENDS_INLINE Value operator*(const Value& x, const Constant& tensor) {
  return x * detail::operand_beside("mul", x, tensor);
}
GPUNET_BACKENDS_INLINE Value operator*(const Constant& tensor, const Value& x) {
  return x * tensor;
}
GPUNET_BACKENDS_INLINE Value operator/(const Value& x, const Constant& tensor) {
  return x / detail::operand_beside("div", x, tensor);
}
GPUNET_BACKENDS_INLINE Value operator/(const Constant& tensor, const Value& x) {
  return detail::operand_beside("div", x, tensor) / x;
}
GPUNET_BACKENDS_INLINE Value maximum(const Value& x, const Constant& tensor) {
  return maximum(x, detail::operand_beside("maximum", x, tensor));
}
GPUNET_BACKENDS_INLINE Value minimum(const Value& x, const Constant& tensor) {
  return minimum(x, detail::operand_beside("minimum", x, tensor));
}
GPUNET_BACKENDS_INLINE Value max(const Value& x, const Constant& tensor) {
  return maximum(x, tensor);
}
GPUNET_BACKENDS_INLINE Value min(const Value& x, const Constant& tensor) {
  return minimum(x, tensor);
}

GPUNET_BACKENDS_INLINE Value masked_fill(const Value& x, const Constant& mask, double number) {
  return x * detail::operand_beside("masked_fill", x, mask.chosen(0, 1)) +
         detail::operand_beside("masked_fill", x, mask.chosen(number, 0), "masked_fill");
}
GPUNET_BACKENDS_INLINE Value where(const Constant& mask, const Value& a, const Value& b) {
  return a * detail::operand_beside("where", a, mask.chosen(1, 0)) +
         b * detail::operand_beside("where", b, mask.chosen(0, 1));
}

}  // namespace GPUNET_BACKENDS
}  // namespace gpunet::nn
