// Bodies of batch_buffers.hpp.
#pragma once

#include <gpunet/data/batch_buffers.hpp>

namespace gpunet::data {

GPUNET_INLINE BatchBuffers<Host>::BatchBuffers(Host& host, index_t slot_count, index_t batch_size,
                                               const DatasetView& set) {
  for (index_t slot = 0; slot < slot_count; ++slot) {
    inputs_.emplace_back(host, batch_size * set.sample_sizes().numel());
    targets_.emplace_back(host, batch_size * static_cast<index_t>(set.target_bytes()));
  }
}

GPUNET_INLINE BatchBuffers<Host>::~BatchBuffers() = default;

GPUNET_INLINE void* BatchBuffers<Host>::host_inputs(index_t slot) {
  return inputs_[static_cast<std::size_t>(slot)].data();
}
GPUNET_INLINE void* BatchBuffers<Host>::host_targets(index_t slot) {
  return targets_[static_cast<std::size_t>(slot)].data();
}

GPUNET_INLINE BatchMemory BatchBuffers<Host>::send(index_t slot, index_t) {
  return {inputs_[static_cast<std::size_t>(slot)].data(),
          targets_[static_cast<std::size_t>(slot)].data()};
}

}  // namespace gpunet::data
