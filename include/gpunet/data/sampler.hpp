// The order of the samples in an epoch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <gpunet/core/random.hpp>

namespace gpunet::data {

// Options of RandomSampler, as in PyTorch.
struct RandomSamplerOptions {
  bool replacement = false;  // draw with replacement
  index_t num_samples = 0;   // samples per epoch; 0: all
};

// A random order of samples, the same as PyTorch's RandomSampler:
//   data::RandomSampler sampler(set.size(), {.replacement = true, .num_samples = 100});
class RandomSampler {
 public:
  // For a dataset of n samples. Throws Error if n is less than 1 or too large, or for a negative num_samples.
  explicit RandomSampler(index_t n, const RandomSamplerOptions& options = {});

  // Returns the number of samples in an epoch, and in the dataset.
  index_t size() const { return options_.num_samples; }
  index_t samples() const { return n_; }

  // Returns the order of an epoch, [size()], drawn from `generator` directly, as by PyTorch's
  // RandomSampler(generator=...).
  std::vector<index_t> draw(Generator& generator) const;

 private:
  index_t n_;
  RandomSamplerOptions options_;
};

// The random choices of an epoch.
struct EpochDraws {
  std::vector<index_t> order;  // of the samples
  std::uint64_t seed;          // of the random transforms of samples
};

// Returns an epoch of a sampler, or of the samples 0 to n - 1 without one. Draws from `generator` what an epoch of PyTorch's
// DataLoader draws, so the same seed gives the same batches: a seed for the workers (here for the samples, so batches do
// not depend on the workers) and, with a sampler, a seed for the order.
EpochDraws draw_epoch(index_t n, const std::optional<RandomSampler>& sampler,
                      Generator& generator = default_generator());

// The same, but returns only the order.
std::vector<index_t> draw_order(index_t n, const std::optional<RandomSampler>& sampler,
                                Generator& generator = default_generator());

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/sampler.ipp>
#endif
