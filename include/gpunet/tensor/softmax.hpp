// Softmax of tensors, its logarithm, and the logarithm of sums of exponentials. Names and results are PyTorch's.
#pragma once

#include <gpunet/tensor/reduce.hpp>

namespace gpunet {

namespace detail {

// Returns log(sum(exp(x))) over some dimensions, with their extents of 1, for `largest`, the largest elements.
template <class T, class D>
Expression<T, D> log_of_sum(const StridedView<const T, D>& x, const Tensor<T, D>& largest, const Dims& dims) {
  return log(sum(exp(x - largest), dims, true));
}

// Refuses integers; true.
template <class X>
constexpr bool has_softmax() {
  static_assert(std::is_floating_point_v<ValueOf<X>>,
                "gpunet::softmax: the tensor has integers, convert it: softmax(cast<float>(x), 1)");
  return true;
}

// Returns f(view of the elements, largest of each row along `dim`).
template <class X, class F>
auto from_largest(X&& x, int dim, std::string_view function, F f) {
  if constexpr (has_softmax<X>()) {  // before what follows, so that its error is the first
    const auto held = stored(std::forward<X>(x));
    const StridedView<const ValueOf<X>, DeviceOf<X>> view = view_of(held);
    if (view.numel() == 0) {
      static_cast<void>(ReducedShape(view.sizes(), Dims(dim), true, function));  // checks dim
      return view.contiguous();
    }
    return f(view, extreme<element::Maximum>(view, Dims(dim), true, function));
  }
}

}  // namespace detail

// Returns exp(x) / sum exp(x) along a dimension, of floats.
template <detail::TensorLike X>
auto softmax(X&& x, int dim) {
  return detail::from_largest(std::forward<X>(x), dim, "softmax", [&](const auto& view, const auto& largest) {
    Tensor y = exp(view - largest);
    y /= sum(y, dim, true);
    return y;
  });
}
// Preferred to the function of ops/classes.hpp, so that a const tensor has the same result. `auto`, because symbols do not include
// constraints: with the return type of the other, a program would have one of the two, at random.
template <class T, class D>
requires detail::Element<T>
auto softmax(const Tensor<T, D>& x, int dim) {
  return softmax(detail::view_of(x), dim);
}

// Returns x - log(sum exp(x)) along a dimension, of floats.
template <detail::TensorLike X>
auto log_softmax(X&& x, int dim) {
  return detail::from_largest(std::forward<X>(x), dim, "log_softmax", [&](const auto& view, const auto& largest) {
    return Tensor(view - largest - detail::log_of_sum(view, largest, dim));
  });
}

// Returns log(sum(exp(x))), of floats.
template <detail::TensorLike X>
auto logsumexp(X&& x, const detail::Dims& dims = {}, bool keepdim = false) {
  if constexpr (detail::has_softmax<X>()) {
    const auto held = detail::stored(std::forward<X>(x));
    const auto view = detail::view_of(held);
    const detail::ReducedShape shape(view.sizes(), dims, keepdim, "logsumexp");
    if (view.numel() == 0) return Tensor(log(sum(exp(view), dims, keepdim)));
    Tensor largest = amax(view, dims, true);
    largest = where(isinf(largest), 0, largest);  // inf - inf would be NaN
    Tensor y = detail::log_of_sum<detail::ValueOf<X>, detail::DeviceOf<X>>(view, largest, dims) + largest;
    return detail::with_sizes(std::move(y), shape.result).eval();
  }
}

}  // namespace gpunet
