// The order of the samples in an epoch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <gpunet/core/random.hpp>
#include <gpunet/core/state.hpp>

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

// What the random choices of an epoch are made from.
struct EpochSeeds {
  std::uint64_t transforms;  // of samples
  std::uint64_t order;
};

// Draws from `generator` what an epoch of PyTorch's DataLoader draws, so the same seed gives the same batches: a seed for the workers
// (here for the samples, so batches do not depend on the workers) and, with a sampler, a seed for the order.
EpochSeeds draw_seeds(const std::optional<RandomSampler>& sampler, Generator& generator = default_generator());

// Returns the order of the samples in an epoch, of a sampler, or 0 to n - 1 without one.
std::vector<index_t> order_of(index_t n, const std::optional<RandomSampler>& sampler, const EpochSeeds& seeds);

// What an epoch is made of: the samples that the sampler draws (0 without one) from those of the dataset.
struct EpochShape {
  index_t samples, drawn, batch_size, batches;
};

// The position of a loop over batches, for a checkpoint.
struct EpochPlace {
  EpochSeeds seeds = {};
  index_t next =
      -1;  // the batch at which the next loop continues the epoch of a checkpoint; -1: it begins a new epoch

  // Begins a loop over that many batches. Returns the index of its first one.
  index_t begin(const std::optional<RandomSampler>& sampler, index_t batches);
  // Writes or reads it. `running`: the next batch of the current loop, -1 if there is no loop. Within an epoch, throws Error
  // for another number of samples, batches or samples in a batch, and for another kind of order.
  void visit_state(StateVisitor& state, index_t running, const EpochShape& shape);
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/sampler.ipp>
#endif
