// What a device prefers, for code above it that does not ask which device it is.
#pragma once

#include <type_traits>

#include <gpunet/device/device.hpp>

namespace gpunet {

template <class D>
struct DeviceTraits;

// Of the processor.
template <>
struct DeviceTraits<Host> {
  // Whether it has kernels that do the work of several layers.
  template <class T>
  static constexpr bool fuses = std::is_same_v<T, float>;
  // Whether its linear layers can use the bits of a ReLU below, see BackwardPass::relu_bits.
  template <class T>
  static constexpr bool uses_relu_bits = false;
  // Whether the layer above a ReLU rectifies its gradient, see BackwardPass::rectify_dx.
  static constexpr bool rectifies_gradients = false;
};

// Of GPUs.
template <>
struct DeviceTraits<Cuda> {
  // As of Host.
  template <class T>
  static constexpr bool fuses = true;
  // As of Host.
  template <class T>
  static constexpr bool uses_relu_bits = std::is_same_v<T, float>;  // those of cuBLASLt
  static constexpr bool rectifies_gradients = true;                 // products do it before they store their sums
};

}  // namespace gpunet
