// Probabilities of classes along one dimension of a tensor, and predictions (argmax).
#pragma once

#include <string_view>

#include <gpunet/ops/softmax/softmax.hpp>
#include <gpunet/tensor/argmax.hpp>
#include <gpunet/tensor/tensor_like.hpp>

namespace gpunet {

namespace detail {

template <class X>
auto softmax_along(X&& x, int dim, SoftmaxKind kind, std::string_view function) {
  if constexpr (has_softmax<X>())  // first, so that its error is the first
    return with_elements(std::forward<X>(x), [&]<class D, class T>(D& device, const T* elements,
                                                                   const Sizes& sizes) {
      const AlongDimension along(sizes, dim, true, function);
      Tensor<T, D> y(device, sizes);
      if (y.numel() > 0)
        softmax_forward(device, along.outer * along.inner,
                        SoftmaxForward<T>{along.length, along.inner, elements, y.data(), kind});
      return y;
    });
}

}  // namespace detail

// Returns exp(x) / sum exp(x) along a dimension, of floats, as torch.softmax. Of logits
// [batch, classes], softmax(logits, 1) are the probabilities. Throws Error if it is not there.
template <detail::TensorLike X>
auto softmax(X&& x, int dim) {
  return detail::softmax_along(std::forward<X>(x), dim, SoftmaxKind::probabilities, "softmax");
}

// Returns x - log(sum exp(x)) along a dimension, of floats, as torch.log_softmax.
template <detail::TensorLike X>
auto log_softmax(X&& x, int dim) {
  return detail::softmax_along(std::forward<X>(x), dim, SoftmaxKind::logarithms, "log_softmax");
}

}  // namespace gpunet
