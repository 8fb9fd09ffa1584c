// Norms of an array on Host.
#pragma once

#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/norm.hpp>

namespace gpunet {

// The sums of all blocks: each is one thread's.
template <class Kind, class T>
void sum_blocks(Host& device, index_t blocks, const NormBlocks<Kind, T>& block) {
  constexpr index_t few = 16;  // below, a second thread costs more than it gives
  const detail::SumEach<NormBlocks<Kind, T>> sum{block.length, block};
  device.run_if(blocks >= few, blocks, [&](index_t b, int) { sum(b); });
}

}  // namespace gpunet
