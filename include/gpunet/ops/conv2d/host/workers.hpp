// The threads that share a convolution on Host.
#pragma once

#include <gpunet/device/host/host.hpp>
#include <gpunet/ops/conv2d/geometry.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet::detail {

// Returns whether threads share the convolution of a slice. A small one is not worth waking a
// thread; many groups of samples are worth more where threads take those than within one.
inline bool is_shared(const Slice& slice, const Conv2dGeometry& g) {
  constexpr index_t enough = 1 << 22, enough_of_one = 1 << 20;  // products
  return slice.threads_of == ThreadsOf::ops && slice.samples() * g.out_features() * g.taps() >=
                                                   (slice.outer > 1 ? enough : enough_of_one);
}

// Returns the number of workers that share it, each with scratch of its own.
inline index_t conv2d_workers(const Host& device, const Slice& slice, const Conv2dGeometry& g) {
  return is_shared(slice, g) ? device.threads() : 1;
}

}  // namespace gpunet::detail
