// Loops whose functor computes several elements per index.
#pragma once

#include <algorithm>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/for_each.hpp>

namespace gpunet::detail {

// Whether an index should compute many neighboring elements: Host vectorizes them and saves divisions, Cuda has a thread for
// each.
template <class D>
inline constexpr bool prefers_blocks = false;
template <>
inline constexpr bool prefers_blocks<Host> = true;

// Calls f(i) for every i < n, as for_each; f computes `length` elements.
template <class D, class F>
void for_each_block(D& device, index_t n, index_t, F f) {
  for_each(device, n, f);
}
template <class F>
void for_each_block(Host& device, index_t n, index_t length, F f) {
  run_loop(device, n, loop_over<F>(), &f, (1 << 16) / std::clamp<index_t>(length, 1, 1 << 16));
}

}  // namespace gpunet::detail
