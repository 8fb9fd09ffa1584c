// Loops over the channels of images on Host.
#pragma once

#include <gpunet/device/host/host.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet::detail {

// Calls task(plane) for every channel of every group of samples; on several threads where there is
// much to do.
template <class Geometry, class Task>
void for_each_plane(Host& device, const Slice& slice, const Geometry& g, Task task) {
  const bool shared = slice.samples() * g.in_features() >= 1 << 16;
  device.run_if(shared, slice.outer * g.channels, [&](index_t plane, int) { task(plane); });
}

}  // namespace gpunet::detail
