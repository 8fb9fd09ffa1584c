// Flattening of images to rows.
#pragma once

#include <gpunet/nn/layer.hpp>

namespace gpunet::nn {

// [a, b, ...] -> [a * b * ...], a view.
struct Flatten {
  GPUNET_REFUSED_CALL

  constexpr auto output(auto in) const { return Shape(in.numel()); }
  OpTraits traits(const Sizes&, const Sizes&) const { return {.is_view = true}; }
  std::string extra_repr(const Sizes&, const Sizes&) const { return "start_dim=1, end_dim=-1"; }
  // A view runs nothing.
  void forward(const auto&, const auto&) const {}
  void backward(const auto&, const auto&) const {}
};

}  // namespace gpunet::nn

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::nn::Flatten>);
#endif
