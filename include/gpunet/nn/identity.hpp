// The identity.
#pragma once

#include <gpunet/nn/layer.hpp>

namespace gpunet::nn {

// y = x, as torch.nn.Identity: a view.
struct Identity {
  GPUNET_REFUSED_CALL

  constexpr auto output(auto in) const { return in; }
  OpTraits traits(const Sizes&, const Sizes&) const { return {.is_view = true}; }
  // A view runs nothing.
  void forward(const auto&, const auto&) const {}
  void backward(const auto&, const auto&) const {}
};

}  // namespace gpunet::nn

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::nn::Identity>);
#endif
