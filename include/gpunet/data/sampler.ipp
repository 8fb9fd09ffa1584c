// Bodies of sampler.hpp.
#pragma once

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/data/sampler.hpp>

namespace gpunet::data {

GPUNET_INLINE RandomSampler::RandomSampler(index_t n, const RandomSamplerOptions& options)
    : n_(n), options_(options) {
  constexpr std::string_view where = "gpunet::data::RandomSampler: ";
  const index_t most = options.replacement ? most_elements : most_permuted;
  require(n >= 1, where, n, " samples (want 1 or more)");
  require(n <= most, where, n, " samples (want ", most, " or fewer",
          options.replacement ? ")" : " without replacement), use .replacement = true or a part of the dataset");
  require(0 <= options.num_samples && options.num_samples <= most_elements, where, "num_samples ",
          options.num_samples, " (want 0, for all, to ", most_elements, ")");
  if (options.num_samples == 0) options_.num_samples = n;
}

GPUNET_INLINE std::vector<index_t> RandomSampler::draw(Generator& generator) const {
  std::vector<index_t> order;
  order.reserve(static_cast<std::size_t>(size()));
  if (options_.replacement) {
    const auto lock = generator.lock();
    for (index_t i = 0; i < size(); ++i)
      order.push_back(generator.below(n_));
    return order;
  }
  for (index_t left = size(); left >= 0; left -= n_) {  // draws once more if nothing is left, as PyTorch
    const std::vector<index_t> all = randperm(n_, generator);
    order.insert(order.end(), all.begin(), all.begin() + std::min(left, n_));
  }
  return order;
}

GPUNET_INLINE EpochSeeds draw_seeds(const std::optional<RandomSampler>& sampler, Generator& generator) {
  const auto lock = generator.lock();
  EpochSeeds seeds{};
  seeds.transforms = static_cast<std::uint64_t>(generator.random63());
  if (sampler) seeds.order = static_cast<std::uint64_t>(generator.random63());
  return seeds;
}

GPUNET_INLINE std::vector<index_t> order_of(index_t n, const std::optional<RandomSampler>& sampler,
                                            const EpochSeeds& seeds) {
  if (sampler) {
    Generator own(seeds.order);
    return sampler->draw(own);
  }
  std::vector<index_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), index_t{0});
  return order;
}

GPUNET_INLINE index_t EpochPlace::begin(const std::optional<RandomSampler>& sampler, index_t batches) {
  const index_t first = std::exchange(next, -1);
  if (first >= 0) return std::min(first, batches);
  seeds = draw_seeds(sampler);
  return 0;
}

GPUNET_INLINE void EpochPlace::visit_state(StateVisitor& state, index_t running, const EpochShape& shape) {
  auto place = running >= 0 ? running : next, transforms = static_cast<index_t>(seeds.transforms),
       order = static_cast<index_t>(seeds.order);
  place = state.number("next", place);
  if (place >= 0) {
    state.option("samples", static_cast<double>(shape.samples));
    state.option("shuffled_samples", static_cast<double>(shape.drawn));
    state.option("batch_size", static_cast<double>(shape.batch_size));
    state.option("batches", static_cast<double>(shape.batches));
  }
  state.value("transforms_seed", transforms);
  state.value("order_seed", order);
  if (state.is_reading())
    *this = {{static_cast<std::uint64_t>(transforms), static_cast<std::uint64_t>(order)}, place};
}

}  // namespace gpunet::data
