// The logistic function.
#pragma once

#include <gpunet/nn/saturation.hpp>

namespace gpunet::nn {

// y = 1 / (1 + exp(-x)), element by element, as torch.nn.Sigmoid.
struct Sigmoid : detail::Saturation<Logistic, LogisticGradient> {};

}  // namespace gpunet::nn

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::nn::Sigmoid>);
#endif
