// How the convolutions of a slice are shared among the threads of Host.
#pragma once

#include <gpunet/device/host/host.hpp>
#include <gpunet/ops/conv2d/plain.hpp>

namespace gpunet::detail {

// Whether threads share the convolution of a slice. A single group of samples is the work of one thread: others have its
// neighbours. A small one is not worth waking anybody.
inline bool is_shared(const Slice& slice, const Conv2dGeometry& g) {
  constexpr index_t enough = 1 << 22;  // products
  return slice.outer > 1 && slice.samples() * g.out_features() * g.taps() >= enough;
}

// How many workers share it, each with scratch of its own.
inline index_t conv2d_workers(const Host& device, const Slice& slice, const Conv2dGeometry& g) {
  return is_shared(slice, g) ? device.threads() : 1;
}

}  // namespace gpunet::detail
