// Device strings: "cpu", "cuda", "cuda:1" as in PyTorch, and "auto".
#pragma once

#include <string_view>

#include <gpunet/core/error.hpp>

namespace gpunet {

// Which device a string asks for.
struct DeviceChoice {
  enum class Kind { cpu, cuda, any };

  Kind kind = Kind::any;
  int index = -1;  // -1 where the string has none

  friend bool operator==(const DeviceChoice&, const DeviceChoice&) = default;
};

// Reads "cpu", "cuda", either with ":N", or "auto". Throws Error with PyTorch's sentence for
// anything else. Does not check that the device exists.
DeviceChoice parse_device(std::string_view text);

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/device/device_string.ipp>
#endif
