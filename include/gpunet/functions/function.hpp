// The form of a function of numbers. It is written once, as a struct F with
//
//   function_name         its name in PyTorch
//   value(x)              y, for T float and double
//   gradient(x, y, dy)    dx
//
// in elementwise.hpp or activations.hpp, and an entry in the list there. F is a layer, the op of a
// node, and a step of programs on the elements of tensors; the function of that name takes both
// values of networks and tensors.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <gpunet/core/refused.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/core/text.hpp>

namespace gpunet {

template <class F>
struct ElementwiseOp;  // ops/elementwise.hpp

namespace detail {

// Whether functions take an X: true for values of networks (nn/value.hpp) and tensors
// (tensor/functions.hpp).
template <class X>
inline constexpr bool is_function_argument = false;

// Writes "name=value", as PyTorch prints an option.
inline std::string option_text(const char* name, double value) {
  return concat(name, "=", python_repr(value));
}

}  // namespace detail

// A value of a network, a tensor, a view or an expression.
template <class X>
concept FunctionArgument = detail::is_function_argument<std::remove_cvref_t<X>>;

// The way of a function of floats with tensors of integers: it converts them to floats, computes
// with integers, or returns them unchanged.
enum class OfIntegers { as_floats, as_integers, unchanged };

// The base of a function F.
template <class F>
struct Function {
  static constexpr bool is_of_gpunet = true;
  static constexpr OfIntegers of_integers = OfIntegers::as_floats;

  GPUNET_REFUSED_CALL

  constexpr auto output(auto in) const { return in; }
  // The function, for merging with neighbors (Sequential).
  constexpr F function() const { return static_cast<const F&>(*this); }

  // Appends the op, see nn/layer.hpp.
  template <class Builder, class Value, class In>
  Value lower(Builder& builder, Value x, In in) const {
    builder.set_layer(detail::signature<F>());
    return append(builder, x, in);
  }
  // The same for another layer, whose name is printed.
  template <class Builder, class Value, class In>
  Value append(Builder& builder, Value x, In in) const {
    return builder.add(ElementwiseOp<F>{function()}, x, in.sizes());
  }
};

}  // namespace gpunet
