// How a device cuts a batch.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/device/device.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// How much of a network there is, in elements.
struct NetworkSize {
  index_t parameters;
  index_t activations;  // of all layers, for one sample
};

// A batch cut into slices of one shape; the last one may hold fewer real samples.
struct Slicing {
  static constexpr index_t most_runs = 8;

  index_t batch;
  index_t outer;
  index_t inner;
  bool side_by_side;  // threads take slices; otherwise slices go one after another and ops use all threads

  constexpr index_t per_slice() const { return outer * inner; }
  constexpr index_t slices() const { return ceil_div(batch, per_slice()); }
  constexpr index_t first_sample(index_t i) const { return i * per_slice(); }
  constexpr Slice slice(index_t i) const { return {std::min(per_slice(), batch - first_sample(i)), outer, inner}; }

  // Runs of neighbouring slices, each of which sums its gradients in an arena of its own. Their number depends on
  // nothing but the slices, so the sums have the same bits for any number of threads.
  constexpr index_t runs() const { return side_by_side ? std::min(slices(), most_runs) : 1; }
  // The first slice of run r; of runs(), the end.
  constexpr index_t first_slice(index_t r) const { return r * slices() / runs(); }
};

// Host takes samples in groups that fill its vectors: 16, for small batches 4, for one or two samples 1.
//
// Usually a slice is one group: the activations of the whole network stay in the cache, and threads take slices. Two
// kinds of network have slices of many groups, one after another, in which the ops share the work among the threads:
// with many parameters, for which a pass over the weights has to serve many samples and a gradient arena for each
// run is dear; and those so small that a call costs more than its work.
inline Slicing slice_batch(const Host&, index_t batch, const NetworkSize& network) {
  constexpr index_t many_parameters = 1 << 17, few_activations = 1 << 14;
  constexpr index_t most_activations = 1 << 24;  // of a slice: bounds the memory of a step

  const bool sixteen = batch >= 48 || (batch >= 12 && batch % 16 == 0) || (batch > 12 && batch < 16);
  const index_t inner = sixteen ? 16 : batch >= 3 ? 4 : 1;
  const index_t groups = ceil_div(batch, inner), per_group = std::max(network.activations * inner, index_t{1});
  if (network.parameters < many_parameters && groups * per_group > few_activations) return {batch, 1, inner, true};

  const index_t slices = ceil_div(groups, std::clamp(most_activations / per_group, index_t{1}, groups));
  return {batch, ceil_div(groups, slices), inner, false};
}

// The same batch in one slice, for networks that look at all of it at once.
constexpr Slicing in_one_slice(const Slicing& slicing) {
  return {slicing.batch, ceil_div(slicing.batch, slicing.inner), slicing.inner, false};
}

// Cuda takes the whole batch at once, in PyTorch's order.
inline Slicing slice_batch(const Cuda&, index_t batch, const NetworkSize&) {
  return {batch, batch, 1, false};
}

}  // namespace gpunet
