// Gathers a batch of samples that are on a device already.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/host.hpp>

namespace gpunet {

// Writes the inputs of a batch and, unless `labels` is null, its labels. Raw: float, or std::uint8_t, which the table
// maps to floats. One index is one input and one label.
template <class Raw>
struct GatherSamples {
  index_t batch, features;
  const Raw* samples;     // [samples, features]
  const label_t* labels;  // [samples]
  const index_t* order;   // [batch], indices of samples; null: the first ones
  const float* table;     // [channels, 256], null for floats
  index_t pixels;         // features per channel
  float* batch_inputs;    // [batch, features]
  label_t* batch_labels;  // [batch]

  GPUNET_FN index_t sample(index_t n) const { return order ? order[n] : n; }
  GPUNET_FN void operator()(index_t i) const {
    if (i < batch * features) {
      const index_t feature = i % features;
      const Raw value = samples[sample(i / features) * features + feature];
      if constexpr (std::same_as<Raw, float>)
        batch_inputs[i] = value;
      else
        batch_inputs[i] = table[feature / pixels * 256 + value];
    }
    if (labels && i < batch) batch_labels[i] = labels[sample(i)];
  }
};

// Writes the floats that a table [channels, 256] has for bytes [channels, pixels].
void look_up_bytes(const float* table, index_t channels, const std::uint8_t* bytes, index_t pixels, float* floats);

template <class D, class Raw>
void gather_samples(D& device, const GatherSamples<Raw>& gather) {
  for_each(device, std::max(gather.batch * gather.features, gather.batch), gather);
}

// On Host sample by sample, without a division per feature.
template <class Raw>
void gather_samples(Host& device, const GatherSamples<Raw>& gather) {
  constexpr index_t worth_threads = 1 << 16;  // features
  device.run_if(gather.batch * gather.features > worth_threads, gather.batch, [&gather](index_t n, int) {
    const Raw* from = gather.samples + gather.sample(n) * gather.features;
    float* to = gather.batch_inputs + n * gather.features;
    if constexpr (std::same_as<Raw, float>)
      std::copy_n(from, gather.features, to);
    else
      look_up_bytes(gather.table, gather.features / std::max(gather.pixels, index_t{1}), from, gather.pixels, to);
    if (gather.labels) gather.batch_labels[n] = gather.labels[gather.sample(n)];
  });
}

}  // namespace gpunet

GPUNET_EXTERN_LOOP(gpunet::GatherSamples<float>);
GPUNET_EXTERN_LOOP(gpunet::GatherSamples<std::uint8_t>);

#if !GPUNET_COMPILED
#include <gpunet/ops/gather_samples.ipp>
#endif
