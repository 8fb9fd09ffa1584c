// How a device cuts a batch.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/device/device.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// A batch cut into slices of one shape; the last one may hold fewer real samples.
struct Slicing {
  index_t batch;
  index_t outer;
  index_t inner;

  constexpr index_t per_slice() const { return outer * inner; }
  constexpr index_t slices() const { return ceil_div(batch, per_slice()); }
  constexpr index_t first_sample(index_t i) const { return i * per_slice(); }
  constexpr Slice slice(index_t i) const { return {std::min(per_slice(), batch - first_sample(i)), outer, inner}; }
};

// Host takes samples in groups that fill its vectors: 16, for small batches 4, for one or two samples 1. Small
// slices keep the activations of the whole network in the cache.
inline Slicing slice_batch(const Host&, index_t batch) {
  const bool sixteen = batch >= 48 || (batch >= 12 && batch % 16 == 0) || (batch > 12 && batch < 16);
  const index_t inner = sixteen ? 16 : batch >= 3 ? 4 : 1;
  return {batch, 1, inner};
}

// Cuda takes the whole batch at once, in PyTorch's order.
inline Slicing slice_batch(const Cuda&, index_t batch) {
  return {batch, batch, 1};
}

}  // namespace gpunet
