// Fusing: neighboring nodes that a device runs as one.
#pragma once

#include <gpunet/device/traits.hpp>
#include <gpunet/graph/graph.hpp>

namespace gpunet {

// The kinds of fusing that a device wants for an element type.
struct FusePolicy {
  // Convolution + ReLU + MaxPool2d<2>; convolution, linear, sum + ReLU; BatchNorm + a clamp.
  bool blocks;
  bool keeps_relu_bits;             // see LinearOp
  bool merges_elementwise = false;  // see Node::Merged and nn/merge_elementwise.hpp
  // Convolution + a clamp, which has no backward pass.
  bool clamps_convolutions = false;
};

// The policy of device D for elements of type T.
template <class D, class T>
inline constexpr FusePolicy fuse_policy = {DeviceTraits<D>::template fuses<T>,
                                           DeviceTraits<D>::template uses_relu_bits<T>,
                                           DeviceTraits<D>::merges_elementwise};

// Returns the graph with such nodes fused. Parameters, values and names stay, and results are
// bitwise identical.
Graph fuse(Graph graph, const FusePolicy& policy);

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/graph/fuse.ipp>
#endif
