// The order of the samples in an epoch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <gpunet/core/random.hpp>
#include <gpunet/core/state.hpp>

namespace gpunet::data {

// Options of RandomSampler, as in PyTorch.
struct RandomSamplerOptions {
  bool replacement = false;  // draw with replacement
  index_t num_samples = 0;   // samples per epoch; 0: all
  // Draws the orders themselves, as PyTorch's does; else each order has a generator with a seed
  // that the loader draws. An epoch takes all of its words when it begins, even if it is not
  // completed.
  GeneratorOption generator = {};
};

// A random order of samples, the same as PyTorch's RandomSampler:
//   data::RandomSampler sampler(set.size(), {.replacement = true, .num_samples = 100});
class RandomSampler {
 public:
  // For a dataset of n samples. Throws Error if n is less than 1 or too large, or for a negative
  // num_samples; with a generator and replacement also for more than 2^32 samples.
  explicit RandomSampler(index_t n, const RandomSamplerOptions& options = {});

  // Returns the number of samples in an epoch, and in the dataset.
  index_t size() const { return options_.num_samples; }
  index_t samples() const { return n_; }

  const RandomSamplerOptions& options() const { return options_; }

  // Returns the order of an epoch, [size()], drawn from `generator` directly, as by PyTorch's
  // RandomSampler(generator=...). Throws Error if no memory holds it.
  std::vector<index_t> draw(Generator& generator) const;
  // Returns the number of words that draw() takes from the generator.
  std::uint64_t words() const;

 private:
  index_t n_;
  RandomSamplerOptions options_;
};

// Options of DistributedSampler, as in PyTorch.
struct DistributedSamplerOptions {
  index_t num_replicas = 0;  // processes; 0: all that were launched together (see Launch)
  index_t rank = -1;         // of this process; -1: that of the launcher
  bool shuffle = true;       // a random order per epoch
  std::uint64_t seed = 0;    // the same on all ranks
  // Leave out samples at the end, instead of repeating the first ones, for parts of equal size.
  bool drop_last = false;
};

// The part of each epoch's samples that a process has, the same as PyTorch's DistributedSampler
// (torch/utils/data/distributed.py):
//   data::DistributedSampler sampler(set, {.num_replicas = comm.size(), .rank = comm.rank()});
//   data::DataLoader loader(set, {.batch_size = 32, .sampler = sampler});
//   for (int epoch = 0; epoch < 10; ++epoch) {
//     sampler.set_epoch(epoch);
//     for (auto [x, y] : loader) ...
//   }
// The order is drawn from a generator of its own, seeded with seed + epoch. Rank r of n has samples
// r, r + n, r + 2 n, ... of it. All ranks have equally many. Copies, such as that of a loader,
// share the epoch.
class DistributedSampler {
 public:
  // For a dataset of n samples. Throws Error for fewer than 1 or too many samples, a rank that is
  // not 0 to num_replicas - 1, and if nothing is left with drop_last.
  explicit DistributedSampler(index_t n, const DistributedSamplerOptions& options = {});
  template <class Set>
  requires requires(const Set& set) { set.size(); }
  explicit DistributedSampler(const Set& set, const DistributedSamplerOptions& options = {})
      : DistributedSampler(static_cast<index_t>(set.size()), options) {}

  // Returns the number of samples in an epoch of this rank, and in the dataset.
  index_t size() const { return size_; }
  index_t samples() const { return n_; }
  index_t num_replicas() const { return options_.num_replicas; }
  // Returns the place of sample i of this rank in the epoch of all ranks.
  index_t place_of(index_t i) const { return i * options_.num_replicas + options_.rank; }

  // Returns the options that must be the same on all ranks.
  std::string description() const;

  // Sets the number of the next epoch. Without it, all epochs have the order of epoch 0; train::fit
  // calls it.
  void set_epoch(index_t epoch) { *epoch_ = epoch; }
  // Returns the seed of the next epoch.
  std::uint64_t epoch_seed() const { return options_.seed + static_cast<std::uint64_t>(*epoch_); }
  // Returns the samples of this rank in an epoch with a seed, [size()].
  std::vector<index_t> order(std::uint64_t seed) const;

 private:
  index_t n_, size_ = 0;
  DistributedSamplerOptions options_;
  std::shared_ptr<index_t> epoch_ = std::make_shared<index_t>(0);
};

// A sampler of a loader.
class Sampler {
 public:
  Sampler(const RandomSampler& sampler) : sampler_(sampler) {}
  Sampler(const DistributedSampler& sampler) : sampler_(sampler) {}

  // Returns the number of samples in an epoch.
  index_t size() const {
    return std::visit([](const auto& sampler) { return sampler.size(); }, sampler_);
  }
  // Returns the number of samples of the dataset.
  index_t samples() const {
    return std::visit([](const auto& sampler) { return sampler.samples(); }, sampler_);
  }
  // Returns the number of processes that share an epoch; 0 for a RandomSampler.
  index_t replicas() const { return distributed() ? distributed()->num_replicas() : 0; }
  // Returns the options that must be the same in all processes, and the number of this one's part
  // of the samples, from 0.
  std::string description() const;
  index_t part() const { return place_of(0); }
  // Returns the place in the epoch of all processes of sample i of this one.
  index_t place_of(index_t i) const { return distributed() ? distributed()->place_of(i) : i; }
  // Returns the sampler if it is a RandomSampler, or a DistributedSampler; else null.
  const RandomSampler* random() const { return std::get_if<RandomSampler>(&sampler_); }
  const DistributedSampler* distributed() const {
    return std::get_if<DistributedSampler>(&sampler_);
  }
  // Sets the epoch of a DistributedSampler.
  void set_epoch(index_t epoch);

 private:
  std::variant<RandomSampler, DistributedSampler> sampler_;
};

// The seeds of the random choices of an epoch.
struct EpochSeeds {
  std::uint64_t transforms;  // of samples
  std::uint64_t order;
  // The generator of the RandomSampler before the epoch, which draws the order in place of its
  // seed.
  std::optional<Generator> generator = {};
};

// Draws from `generator` the seeds that an epoch of PyTorch's DataLoader draws, so the same seed
// gives the same batches: one for the workers (here for the samples, so batches do not depend on
// the workers) and, with a sampler that has no generator, one for the order.
EpochSeeds draw_seeds(const std::optional<Sampler>& sampler,
                      Generator& generator = default_generator());

// The order of the samples in an epoch, of a sampler, or 0 to n - 1 without one. It is drawn as it
// is read, so that an epoch of a RandomSampler may be of any length.
class SampleOrder {
 public:
  SampleOrder() : SampleOrder(0, {}, {}) {}
  // `first`: the place in the epoch where reading begins.
  SampleOrder(index_t n, const std::optional<Sampler>& sampler, const EpochSeeds& seeds,
              index_t first = 0);

  // Writes the next samples.
  void read(std::span<index_t> samples);

 private:
  index_t n_;
  bool is_random_, with_replacement_;
  Generator generator_;
  std::vector<index_t> drawn_;  // a permutation, or the samples of a DistributedSampler
  index_t next_;                // in drawn_; without a sampler the next sample
};

// Returns the whole order. Throws Error if no memory holds it.
std::vector<index_t> order_of(index_t n, const std::optional<Sampler>& sampler,
                              const EpochSeeds& seeds);

// The samples and batches of an epoch.
struct EpochShape {
  index_t samples;  // of the dataset
  const std::optional<Sampler>& sampler;
  index_t batch_size, batches;
  const GeneratorOption& generator;
};

// The position of a loop over batches, for a checkpoint.
struct EpochPlace {
  EpochSeeds seeds = {};
  // The batch at which the next loop continues the epoch of a checkpoint; -1: it begins a new
  // epoch.
  index_t next = -1;

  // Begins a loop. Returns the index of its first batch.
  index_t begin(const EpochShape& shape);
  // Writes or reads the position and the generators that were given. `running`: the next batch of
  // the current loop, -1 if there is no loop. Within an epoch, throws Error for another number of
  // samples, batches or samples in a batch, and for another kind of order. With a
  // DistributedSampler, a batch counts the samples of all processes: their number may change,
  // if the product stays.
  void visit_state(StateVisitor& state, index_t running, const EpochShape& shape);
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/sampler.ipp>
#endif
