// In which order an epoch visits the samples.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <gpunet/core/random.hpp>

namespace gpunet::data {

// As PyTorch's RandomSampler takes them.
struct RandomSamplerOptions {
  bool replacement = false;  // a sample may come again before all others came
  index_t num_samples = 0;   // in an epoch; 0: as many as there are
};

// Samples in random order, as PyTorch's RandomSampler visits them:
//   data::RandomSampler sampler(set.size(), {.replacement = true, .num_samples = 100});
class RandomSampler {
 public:
  // Of n samples.
  explicit RandomSampler(index_t n, const RandomSamplerOptions& options = {});

  // Samples in an epoch, and in the dataset.
  index_t size() const { return options_.num_samples; }
  index_t samples() const { return n_; }

  // The order of an epoch, [size()], made with `generator` itself, as where PyTorch is given one.
  std::vector<index_t> draw(Generator& generator) const;

 private:
  index_t n_;
  RandomSamplerOptions options_;
};

// What is drawn for an epoch.
struct Epoch {
  std::vector<index_t> order;  // of the samples
  std::uint64_t seed;          // of what the samples draw
};

// An epoch by a sampler, or of n samples from 0 to n - 1 where there is none. Takes from `generator` what an epoch of
// PyTorch's DataLoader takes from its default generator, so that the same seed gives the same batches: a seed for the
// workers (here for each sample, so that batches do not depend on who reads them) and, for a sampler, one for its
// order.
Epoch draw_epoch(index_t n, const std::optional<RandomSampler>& sampler,
                 Generator& generator = default_generator());

// Its order alone.
std::vector<index_t> draw_order(index_t n, const std::optional<RandomSampler>& sampler,
                                Generator& generator = default_generator());

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/sampler.ipp>
#endif
