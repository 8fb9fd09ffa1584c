// Bodies of batch_buffers.hpp.
#pragma once

#include <gpunet/data/batch_buffers.hpp>

namespace gpunet::data {

GPUNET_INLINE BatchBuffers<Host>::BatchBuffers(Host& host, index_t slots, const Sizes& batch, const DatasetView&)
    : sample_(batch.tail()) {
  for (index_t slot = 0; slot < slots; ++slot) {
    inputs_.emplace_back(host, batch.numel());
    labels_.emplace_back(host, batch[0]);
  }
}

GPUNET_INLINE BatchBuffers<Host>::~BatchBuffers() = default;

GPUNET_INLINE void* BatchBuffers<Host>::host_inputs(index_t slot) {
  return inputs_[static_cast<std::size_t>(slot)].data();
}
GPUNET_INLINE label_t* BatchBuffers<Host>::host_labels(index_t slot) {
  return labels_[static_cast<std::size_t>(slot)].data();
}

GPUNET_INLINE Batch<Host> BatchBuffers<Host>::send(index_t slot, index_t n) {
  return {{inputs_[static_cast<std::size_t>(slot)].data(), sample_.with_front(n)}, {host_labels(slot), Sizes{n}}};
}

}  // namespace gpunet::data
