// A batch in slices.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/device/traits.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// A batch in slices of one shape; the last one may have fewer real samples.
struct Slicing {
  static constexpr index_t most_runs = 8;

  index_t batch;
  index_t outer;
  index_t inner;
  // Threads take slices; otherwise slices go one after another and ops use all threads.
  bool side_by_side;

  constexpr index_t per_slice() const { return outer * inner; }
  constexpr index_t slices() const { return ceil_div(batch, per_slice()); }
  constexpr index_t first_sample(index_t i) const { return i * per_slice(); }
  constexpr Slice slice(index_t i) const {
    return {std::min(per_slice(), batch - first_sample(i)), outer, inner,
            side_by_side ? ThreadsOf::slices : ThreadsOf::ops};
  }

  // Returns the number of runs of neighboring slices. Each run sums its gradients in its own arena.
  // The number depends only on the slices, so sums are bitwise identical for any number of threads.
  constexpr index_t runs() const { return side_by_side ? std::min(slices(), most_runs) : 1; }
  // Returns the first slice of run r; first_slice(runs()) is the end.
  constexpr index_t first_slice(index_t r) const { return r * slices() / runs(); }
};

// Returns the slices of a batch on device D.
template <class D>
Slicing slice_batch(const D&, index_t batch, const NetworkSize& network) {
  const SliceShape shape = DeviceTraits<D>::slices(batch, network);
  return {batch, shape.outer, shape.inner, shape.side_by_side};
}

// Returns the same batch in one slice, for networks whose layers couple samples.
constexpr Slicing in_one_slice(const Slicing& slicing) {
  return {slicing.batch, ceil_div(slicing.batch, slicing.inner), slicing.inner, false};
}

}  // namespace gpunet
