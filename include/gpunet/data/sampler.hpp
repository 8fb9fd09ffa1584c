// In which order an epoch visits the samples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/random.hpp>
#include <gpunet/core/sizes.hpp>

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
  explicit RandomSampler(index_t n, const RandomSamplerOptions& options = {}) : n_(n), options_(options) {
    constexpr std::string_view where = "gpunet::data::RandomSampler: ";
    const index_t most = options.replacement ? most_elements : most_permuted;
    require(n >= 1, where, n, " samples (want 1 or more)");
    require(n <= most, where, n, " samples (want ", most, " or fewer",
            options.replacement ? ")" : " without replacement), use .replacement = true or a part of the dataset");
    require(0 <= options.num_samples && options.num_samples <= most_elements, where, "num_samples ",
            options.num_samples, " (want 0, for all, to ", most_elements, ")");
    if (options.num_samples == 0) options_.num_samples = n;
  }

  // Samples in an epoch, and in the dataset.
  index_t size() const { return options_.num_samples; }
  index_t samples() const { return n_; }

  // The order of an epoch, [size()], made with `generator` itself, as where PyTorch is given one.
  std::vector<index_t> draw(Generator& generator) const {
    std::vector<index_t> order;
    order.reserve(static_cast<std::size_t>(size()));
    if (options_.replacement) {
      const auto lock = generator.lock();
      for (index_t i = 0; i < size(); ++i)
        order.push_back(generator.below(n_));
      return order;
    }
    for (index_t left = size(); left >= 0; left -= n_) {  // once more than needed where nothing is left, as PyTorch
      const std::vector<index_t> all = randperm(n_, generator);
      order.insert(order.end(), all.begin(), all.begin() + std::min(left, n_));
    }
    return order;
  }

 private:
  index_t n_;
  RandomSamplerOptions options_;
};

// What is drawn for an epoch.
struct Epoch {
  std::vector<index_t> order;  // of the samples
  std::uint64_t seed;          // of what the samples draw
};

// An epoch by a sampler, or of n samples from 0 to n - 1 where there is none. Takes from `generator` what an epoch of PyTorch's
// DataLoader takes from its default generator, so that the same seed gives the same batches: a seed for the workers (here
// for each sample, so that batches do not depend on who reads them) and, for a sampler, one for its order.
inline Epoch draw_epoch(index_t n, const std::optional<RandomSampler>& sampler,
                        Generator& generator = default_generator()) {
  const auto lock = generator.lock();
  Epoch epoch{std::vector<index_t>(static_cast<std::size_t>(sampler ? 0 : n)),
              static_cast<std::uint64_t>(generator.random63())};
  if (sampler) {
    Generator own(generator.random63());
    epoch.order = sampler->draw(own);
  } else {
    std::iota(epoch.order.begin(), epoch.order.end(), index_t{0});
  }
  return epoch;
}

// Its order alone.
inline std::vector<index_t> draw_order(index_t n, const std::optional<RandomSampler>& sampler,
                                       Generator& generator = default_generator()) {
  return draw_epoch(n, sampler, generator).order;
}

}  // namespace gpunet::data
