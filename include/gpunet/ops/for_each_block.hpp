// Loops over blocks of neighboring elements.
#pragma once

#include <algorithm>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/for_each.hpp>

namespace gpunet::detail {

// Whether an index should compute many neighboring elements: Host vectorizes them and saves
// divisions, Cuda has a thread for each.
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

// One index = one element of a block.
template <class F>
struct ElementOfBlock {
  F f;
  GPUNET_FN void operator()(index_t i) const { f.at(i / f.size(), i % f.size()); }
};

// One index = one block, whose elements fill vectors.
template <class F>
struct WholeBlock {
  F f;
  [[gnu::always_inline]] void operator()(index_t block) const {
    const index_t size = f.size();
    GPUNET_INDEPENDENT_ITERATIONS
    for (index_t e = 0; e < size; ++e)
      f.at(block, e);
  }
};

}  // namespace gpunet::detail

namespace gpunet {

// Calls f.at(block, e) for all e < f.size() of all blocks, as for_each does, but without a division
// for each element on Host.
template <class D, class F>
void for_each_in_blocks(D& device, index_t blocks, const F& f) {
  if constexpr (detail::prefers_blocks<D>)
    detail::for_each_block(device, blocks, f.size(), detail::WholeBlock<F>{f});
  else
    for_each(device, blocks * f.size(), detail::ElementOfBlock<F>{f});
}

}  // namespace gpunet
