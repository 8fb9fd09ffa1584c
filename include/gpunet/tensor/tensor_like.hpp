// Tensors, views and expressions as arguments of one function.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <gpunet/tensor/tensor.hpp>

namespace gpunet::detail {

// A View, such as a batch of a loader or a parameter of a network.
template <class X>
concept DenseView = std::derived_from<X, View<typename X::element_type, typename X::device_type>>;

// The element type and the device of an operand; void for other types.
template <class X>
struct OperandOf {
  using value_type = void;
  using device_type = void;
};
template <class T, class D>
struct OperandOf<Tensor<T, D>> {
  using value_type = T;
  using device_type = D;
};
template <class T, class D>
struct OperandOf<Expression<T, D>> : OperandOf<Tensor<T, D>> {};
template <class T, class D>
struct OperandOf<StridedView<T, D>> : OperandOf<Tensor<std::remove_const_t<T>, D>> {};
template <DenseView X>
struct OperandOf<X>
    : OperandOf<Tensor<std::remove_const_t<typename X::element_type>, typename X::device_type>> {};

template <class X>
using ValueOf = typename OperandOf<std::remove_cvref_t<X>>::value_type;
template <class X>
using DeviceOf = typename OperandOf<std::remove_cvref_t<X>>::device_type;

// A tensor, a view or an expression.
template <class X>
concept TensorLike = !std::is_void_v<ValueOf<X>>;

// Returns the device of a tensor that is to be viewed. Throws Error if it was made without one.
template <class T, class D>
D& device_of_view(const Tensor<T, D>& tensor) {
  D* const device = TensorAccess::device(tensor);
  require(
      device != nullptr,
      "gpunet::StridedView: the tensor was made without a device (it has no elements), make it on "
      "one");
  return *device;
}

// Refuses integers; true.
template <class X>
constexpr bool has_softmax() {
  static_assert(std::is_floating_point_v<ValueOf<X>>,
                "gpunet::softmax: the tensor has integers, convert it: softmax(cast<float>(x), 1)");
  return true;
}

// Returns f(device, elements, sizes) of a tensor, a view or an expression, with the elements in
// row-major order.
template <class X, class F>
auto with_elements(X&& x, const F& f) {
  using V = std::remove_cvref_t<X>;
  if constexpr (std::is_same_v<V, Expression<ValueOf<X>, DeviceOf<X>>>) {
    refuse_second_use<!std::is_lvalue_reference_v<X>>();
    return with_elements(std::move(x).eval(), f);
  } else if constexpr (std::is_same_v<V, Tensor<ValueOf<X>, DeviceOf<X>>>) {
    return f(device_of_view(x), std::as_const(x).data(), x.sizes());
  } else {
    if constexpr (requires { x.is_contiguous(); })
      if (!x.is_contiguous()) return with_elements(x.contiguous(), f);
    return f(x.device(), static_cast<const ValueOf<X>*>(x.data()), x.sizes());
  }
}

}  // namespace gpunet::detail
