// Neighboring nodes that a device does better in one.
#pragma once

#include <gpunet/device/traits.hpp>
#include <gpunet/graph/graph.hpp>

namespace gpunet {

// What of it a device wants for an element type.
struct FusePolicy {
  bool blocks;                      // convolution + ReLU + MaxPool2d<2>, convolution + ReLU, linear + ReLU
  bool keeps_relu_bits;             // see LinearOp
  bool merges_elementwise = false;  // see Node::Merged
};

// Of a device and an element type.
template <class D, class T>
inline constexpr FusePolicy fuse_policy = {DeviceTraits<D>::template fuses<T>,
                                           DeviceTraits<D>::template uses_relu_bits<T>,
                                           DeviceTraits<D>::merges_elementwise};

// The same network with such nodes fused: the same parameters, values, names of layers and numbers, fewer nodes.
Graph fuse(Graph graph, const FusePolicy& policy);

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/graph/fuse.ipp>
#endif
