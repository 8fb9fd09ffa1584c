// The optional library for convolutions (cuDNN) of a program.
#pragma once

#include <cstddef>
#include <memory>

#include <gpunet/device/cuda/cuda.hpp>

#if GPUNET_CUDA

namespace gpunet {

namespace detail {

// The maker of a program's library for a device; null in a program without one. A unit that holds a
// library sets it before main() begins. So all units are compiled alike, and all of a program use
// the library or none.
struct LinkedConvolutionLibrary {
  std::shared_ptr<ConvolutionLibrary> (*make)(const Cuda& device) = nullptr;
  std::size_t (*version)() = nullptr;  // as cuDNN numbers it
};
inline LinkedConvolutionLibrary linked_convolution_library;

}  // namespace detail

namespace backends::cudnn {

// Returns whether this program was linked with gpunet::cudnn.
inline bool is_available() {
  return detail::linked_convolution_library.make != nullptr;
}

// Returns the version as cuDNN numbers it, 91900 for 9.19.0; 0 in a program without cuDNN.
inline std::size_t version() {
  return is_available() ? detail::linked_convolution_library.version() : 0;
}

}  // namespace backends::cudnn

}  // namespace gpunet

#endif
