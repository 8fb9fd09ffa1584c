// Gathers a batch of samples that are on a device already.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/host.hpp>

namespace gpunet {

// Writes the inputs of a batch and its targets. Raw: float, or std::uint8_t, which the table maps
// to floats. Target: float or label_t. One index is one number of the inputs and one of the
// targets.
template <class Raw, class Target = label_t>
struct GatherSamples {
  index_t batch, features, target_features;
  const Raw* samples;     // [samples, features]
  const Target* targets;  // [samples, target_features]
  const index_t* order;   // [batch], indices of samples; null: the first ones
  const float* table;     // [channels, 256], null for floats
  index_t pixels;         // features per channel
  float* batch_inputs;    // [batch, features]
  Target* batch_targets;  // [batch, target_features]

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
    if (i < batch * target_features)
      batch_targets[i] =
          targets[sample(i / target_features) * target_features + i % target_features];
  }
};

// Writes the floats that a table [channels, 256] has for bytes [channels, pixels].
void look_up_bytes(const float* table, index_t channels, const std::uint8_t* bytes, index_t pixels,
                   float* floats);

template <class D, class Raw, class Target>
void gather_samples(D& device, const GatherSamples<Raw, Target>& gather) {
  for_each(device, gather.batch * std::max(gather.features, gather.target_features), gather);
}

// On Host sample by sample, without a division per feature.
template <class Raw, class Target>
void gather_samples(Host& device, const GatherSamples<Raw, Target>& gather) {
  constexpr index_t worth_threads = 1 << 16;  // features
  const index_t numbers = gather.batch * (gather.features + gather.target_features);
  device.run_if(numbers > worth_threads, gather.batch, [&gather](index_t n, int) {
    const Raw* from = gather.samples + gather.sample(n) * gather.features;
    float* to = gather.batch_inputs + n * gather.features;
    if constexpr (std::same_as<Raw, float>)
      std::copy_n(from, gather.features, to);
    else
      look_up_bytes(gather.table, gather.features / std::max(gather.pixels, index_t{1}), from,
                    gather.pixels, to);
    std::copy_n(gather.targets + gather.sample(n) * gather.target_features, gather.target_features,
                gather.batch_targets + n * gather.target_features);
  });
}

}  // namespace gpunet

GPUNET_EXTERN_LOOP(gpunet::GatherSamples<float>);
GPUNET_EXTERN_LOOP(gpunet::GatherSamples<std::uint8_t>);
GPUNET_EXTERN_LOOP(gpunet::GatherSamples<float, float>);

#if !GPUNET_COMPILED
#include <gpunet/ops/gather_samples.ipp>
#endif
