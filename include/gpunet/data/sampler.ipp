// Bodies of sampler.hpp.
#pragma once

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/launch.hpp>
#include <gpunet/core/math.hpp>
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

GPUNET_INLINE DistributedSampler::DistributedSampler(index_t n, const DistributedSamplerOptions& options)
    : n_(n), options_(options) {
  constexpr std::string_view where = "gpunet::data::DistributedSampler: ";
  const Launch launch = launch_of_process();
  require(launch.problem.empty() || (options_.num_replicas != 0 && options_.rank != -1), where,
          "the environment has ", launch.problem,
          ", give it {.num_replicas = comm.size(), .rank = comm.rank()}, or unset the variable");
  if (options_.num_replicas == 0) options_.num_replicas = launch.world_size;
  if (options_.rank == -1) options_.rank = launch.rank;
  const index_t replicas = options_.num_replicas;
  require(1 <= n && n <= most_permuted, where, n, " samples (want 1 to ", most_permuted, ")");
  require(1 <= replicas && replicas <= most_permuted, where, "num_replicas ", replicas,
          " (want 1 or more processes), give comm.size()");
  require(0 <= options_.rank && options_.rank < replicas, where, "rank ", options_.rank, " of ", replicas,
          " processes (want 0 to ", replicas - 1, "), give comm.rank()");
  size_ = options.drop_last ? n / replicas : ceil_div(n, replicas);
  require(size_ > 0, where, n, " samples for ", replicas,
          " processes with drop_last (nothing is left), leave that out");
}

GPUNET_INLINE std::vector<index_t> DistributedSampler::order(std::uint64_t seed) const {
  std::vector<index_t> all;
  if (options_.shuffle) {
    Generator own(seed);
    all = randperm(n_, own);
  } else {
    all.resize(static_cast<std::size_t>(n_));
    std::iota(all.begin(), all.end(), index_t{0});
  }
  std::vector<index_t> part(static_cast<std::size_t>(size_));
  index_t place = options_.rank;
  for (index_t& sample : part) {  // behind the end, the order begins anew
    sample = all[static_cast<std::size_t>(place % n_)];
    place += options_.num_replicas;
  }
  return part;
}

GPUNET_INLINE std::string DistributedSampler::description() const {
  return concat("DistributedSampler of ", n_, " samples for ", options_.num_replicas, " ranks, seed ",
                options_.seed, options_.shuffle ? ", shuffle" : "", options_.drop_last ? ", drop_last" : "");
}

GPUNET_INLINE std::string Sampler::description() const {
  const auto* distributed = std::get_if<DistributedSampler>(&sampler_);
  return distributed ? distributed->description() : concat("RandomSampler of ", samples(), " samples");
}

GPUNET_INLINE std::uint64_t Sampler::next_seed(Generator& generator) const {
  if (const auto* distributed = std::get_if<DistributedSampler>(&sampler_)) return distributed->epoch_seed();
  return static_cast<std::uint64_t>(generator.random63());
}

GPUNET_INLINE std::vector<index_t> Sampler::order(std::uint64_t seed) const {
  if (const auto* distributed = std::get_if<DistributedSampler>(&sampler_)) return distributed->order(seed);
  Generator own(seed);
  return std::get<RandomSampler>(sampler_).draw(own);
}

GPUNET_INLINE void Sampler::set_epoch(index_t epoch) {
  if (auto* distributed = std::get_if<DistributedSampler>(&sampler_)) distributed->set_epoch(epoch);
}

GPUNET_INLINE EpochSeeds draw_seeds(const std::optional<Sampler>& sampler, Generator& generator) {
  const auto lock = generator.lock();
  EpochSeeds seeds{};
  seeds.transforms = static_cast<std::uint64_t>(generator.random63());
  if (sampler) seeds.order = sampler->next_seed(generator);
  return seeds;
}

GPUNET_INLINE std::vector<index_t> order_of(index_t n, const std::optional<Sampler>& sampler,
                                            const EpochSeeds& seeds) {
  if (sampler) return sampler->order(seeds.order);
  std::vector<index_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), index_t{0});
  return order;
}

GPUNET_INLINE index_t EpochPlace::begin(const std::optional<Sampler>& sampler, index_t batches) {
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
    const index_t replicas = shape.sampler ? shape.sampler->replicas() : 0;
    const index_t drawn = !shape.sampler ? 0 : replicas > 0 ? shape.samples : shape.sampler->size();
    state.option("shuffled_samples", static_cast<double>(drawn));
    state.option("is_distributed", replicas > 0 ? 1 : 0);
    state.option("batch_size", static_cast<double>(shape.batch_size * std::max(replicas, index_t{1})));
    state.option("batches", static_cast<double>(shape.batches));
  }
  state.value("transforms_seed", transforms);
  state.value("order_seed", order);
  if (state.is_reading())
    *this = {{static_cast<std::uint64_t>(transforms), static_cast<std::uint64_t>(order)}, place};
}

}  // namespace gpunet::data
