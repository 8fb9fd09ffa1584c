// Bodies of for_each.hpp.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/flush_subnormals.hpp>
#include <gpunet/device/host/for_each.hpp>

namespace gpunet::detail {

GPUNET_INLINE void run_loop(Host& device, index_t n, Loop loop, const void* functor,
                            index_t chunk) {
  const FlushSubnormals flush;
  if (n <= chunk || device.threads() == 1) return loop(functor, 0, n);
  device.run(ceil_div(n, chunk),
             [&](index_t i, int) { loop(functor, i * chunk, std::min(n, (i + 1) * chunk)); });
}

}  // namespace gpunet::detail
