// Blending the weights of two networks.
#pragma once

#include <gpunet/model/network.hpp>

namespace gpunet {

// Moves the parameters of a network towards another's with the same names and sizes:
//   target + weight (net - target)
// as torch.lerp of each. Buffers (running statistics) are copied, as in
// torch.optim.swa_utils.AveragedModel. For target networks and moving averages of weights:
// lerp(target, net, 0.005) after each step. Throws Error if the networks differ, or for a weight
// that is not finite.
template <class D, class T>
void lerp(Network<D, T>& target, const Network<D, T>& net, double weight);

#define GPUNET_LERP(D, T) void lerp(Network<D, T>&, const Network<D, T>&, double)
GPUNET_EXTERN_TEMPLATES(GPUNET_LERP)

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/model/lerp.ipp>
#endif
