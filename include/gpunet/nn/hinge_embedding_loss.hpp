// The hinge loss of distances.
#pragma once

#include <gpunet/nn/elementwise_loss.hpp>

namespace gpunet::nn {

namespace detail {

// x where t is 1, max(0, margin - x) where t is -1.
struct Hinge {
  static constexpr std::string_view name = "HingeEmbeddingLoss";
  double margin = 1;
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    const T rest = static_cast<T>(margin) - x;
    return t > 0 ? x : rest <= 0 ? T{} : rest;
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t) const {
    return t > 0 ? T{1} : static_cast<T>(margin) - x > 0 ? T{-1} : T{};
  }
  template <class T>
  GPUNET_FN T target_gradient(T, T) const {
    return T{};
  }
  template <class T>
  static const char* check(T t) {
    return t == 1 || t == -1 ? nullptr
                             : "is neither 1 nor -1, give 1 for similar pairs and -1 for others";
  }
};

}  // namespace detail

// Options of HingeEmbeddingLoss.
struct HingeEmbeddingLossOptions {
  Reduction reduction = Reduction::mean;
  double margin = 1;  // dissimilar pairs with a larger distance cost nothing
};

// The mean over all numbers of the batch of x for similar pairs (target 1) and max(0, margin - x)
// for others (target -1), as torch.nn.HingeEmbeddingLoss: outputs are distances, both [batch, ...].
struct HingeEmbeddingLoss : ElementwiseLoss<detail::Hinge> {
  constexpr HingeEmbeddingLoss(const HingeEmbeddingLossOptions& options = {})
      : ElementwiseLoss({options.margin}, options.reduction) {}
};

}  // namespace gpunet::nn

GPUNET_EXTERN_ELEMENTWISE_LOSS(gpunet::nn::detail::Hinge);
