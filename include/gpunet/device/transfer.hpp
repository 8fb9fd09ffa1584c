// Bytes from one device to another.
#pragma once

#include <vector>

#include <gpunet/device/device.hpp>

namespace gpunet {

// Copies `bytes` bytes from `source` on `from` to `target` on `to`; ordered after earlier work of
// both. Through host memory. Devices with a shorter way overload this function.
template <Device From, Device To>
void transfer(From& from, const void* source, To& to, void* target, std::size_t bytes) {
  std::vector<std::byte> staging(bytes);
  from.download(staging.data(), source, bytes);
  to.upload(target, staging.data(), bytes);
}

}  // namespace gpunet
