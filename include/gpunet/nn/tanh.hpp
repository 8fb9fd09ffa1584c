// The hyperbolic tangent.
#pragma once

#include <gpunet/nn/saturation.hpp>

namespace gpunet::nn {

// y = tanh(x), element by element, as torch.nn.Tanh.
struct Tanh : detail::Saturation<HyperbolicTangent, HyperbolicTangentGradient> {};

}  // namespace gpunet::nn

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::nn::Tanh>);
#endif
