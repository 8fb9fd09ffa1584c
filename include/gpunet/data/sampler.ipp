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
          options.replacement
              ? ")"
              : " without replacement), use .replacement = true or a part of the dataset");
  require(0 <= options.num_samples && options.num_samples <= most_elements, where, "num_samples ",
          options.num_samples, " (want 0, for all, to ", most_elements, ")");
  if (options.num_samples == 0) options_.num_samples = n;
  require(!options.replacement || !options.generator.is_given() || size() <= index_t{1} << 32,
          where, "num_samples ", size(),
          " with replacement from a generator (want 2^32 or fewer, each epoch passes over the "
          "numbers of all), leave out .generator");
}

namespace detail {

// Returns the generator that a RandomSampler was given, or null.
GPUNET_INLINE Generator* own_generator(const std::optional<Sampler>& sampler) {
  const RandomSampler* const random = sampler ? sampler->random() : nullptr;
  return random && random->options().generator.is_given() ? &*random->options().generator : nullptr;
}

}  // namespace detail

GPUNET_INLINE std::uint64_t RandomSampler::words() const {
  const auto n = static_cast<std::uint64_t>(n_), all = static_cast<std::uint64_t>(size());
  // PyTorch draws a permutation more where the last one is used up.
  return options_.replacement ? all * Generator::words_below(n_) : (all / n + 1) * (n - 1);
}

GPUNET_INLINE std::vector<index_t> RandomSampler::draw(Generator& generator) const {
  const auto lock = generator.lock();
  std::vector<index_t> order = order_of(n_, *this, {0, 0, generator});
  generator.discard(words());
  return order;
}

GPUNET_INLINE DistributedSampler::DistributedSampler(index_t n,
                                                     const DistributedSamplerOptions& options)
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
  require(0 <= options_.rank && options_.rank < replicas, where, "rank ", options_.rank, " of ",
          replicas, " processes (want 0 to ", replicas - 1, "), give comm.rank()");
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
  return concat("DistributedSampler of ", n_, " samples for ", options_.num_replicas,
                " ranks, seed ", options_.seed, options_.shuffle ? ", shuffle" : "",
                options_.drop_last ? ", drop_last" : "");
}

GPUNET_INLINE std::string Sampler::description() const {
  return distributed() ? distributed()->description()
                       : concat("RandomSampler of ", samples(), " samples");
}

GPUNET_INLINE void Sampler::set_epoch(index_t epoch) {
  if (auto* distributed = std::get_if<DistributedSampler>(&sampler_)) distributed->set_epoch(epoch);
}

GPUNET_INLINE EpochSeeds draw_seeds(const std::optional<Sampler>& sampler, Generator& generator) {
  Generator* const own = detail::own_generator(sampler);
  EpochSeeds seeds{};
  {
    const auto lock = generator.lock();
    seeds.transforms = static_cast<std::uint64_t>(generator.random63());
    if (sampler && sampler->random() && !own)
      seeds.order = static_cast<std::uint64_t>(generator.random63());
  }
  if (sampler && sampler->distributed()) seeds.order = sampler->distributed()->epoch_seed();
  if (own) {
    const auto lock = own->lock();
    seeds.generator = *own;
    own->discard(sampler->random()->words());
  }
  return seeds;
}

GPUNET_INLINE SampleOrder::SampleOrder(index_t n, const std::optional<Sampler>& sampler,
                                       const EpochSeeds& seeds, index_t first)
    : n_(n),
      is_random_(sampler && sampler->random()),
      with_replacement_(is_random_ && sampler->random()->options().replacement),
      generator_(seeds.generator ? *seeds.generator : Generator(seeds.order)),
      next_(first) {
  if (with_replacement_) {
    generator_.discard(static_cast<std::uint64_t>(first) * Generator::words_below(n));
  } else if (is_random_) {
    generator_.discard(static_cast<std::uint64_t>(first / n) * static_cast<std::uint64_t>(n - 1));
    drawn_ = randperm(n, generator_);
    next_ = first % n;
  } else if (sampler) {
    drawn_ = sampler->distributed()->order(seeds.order);
  }
}

GPUNET_INLINE void SampleOrder::read(std::span<index_t> samples) {
  for (index_t& sample : samples)
    if (with_replacement_) {
      sample = generator_.below(n_);
    } else if (drawn_.empty()) {
      sample = next_++;
    } else {
      if (is_random_ && next_ == n_) {
        drawn_ = randperm(n_, generator_);
        next_ = 0;
      }
      sample = drawn_[static_cast<std::size_t>(next_++)];
    }
}

GPUNET_INLINE std::vector<index_t> order_of(index_t n, const std::optional<Sampler>& sampler,
                                            const EpochSeeds& seeds) {
  constexpr index_t most = index_t{1} << 36;
  const index_t samples = sampler ? sampler->size() : n;
  require(samples <= most, "gpunet::data::RandomSampler: the order of ", samples,
          " samples in one array (want ", most,
          " or fewer, no memory holds more), use it in a data::DataLoader, which draws it batch by "
          "batch");
  std::vector<index_t> order(static_cast<std::size_t>(samples));
  SampleOrder(n, sampler, seeds).read(order);
  return order;
}

GPUNET_INLINE index_t EpochPlace::begin(const EpochShape& shape) {
  const index_t first = std::exchange(next, -1);
  if (first >= 0) return std::min(first, shape.batches);
  seeds = draw_seeds(shape.sampler, *shape.generator);
  return 0;
}

GPUNET_INLINE void EpochPlace::visit_state(StateVisitor& state, index_t running,
                                           const EpochShape& shape) {
  auto place = running >= 0 ? running : next, transforms = static_cast<index_t>(seeds.transforms),
       order = static_cast<index_t>(seeds.order);
  place = state.number("next", place);
  if (place >= 0) {
    state.option("samples", static_cast<double>(shape.samples));
    const index_t replicas = shape.sampler ? shape.sampler->replicas() : 0;
    const index_t drawn = !shape.sampler ? 0 : replicas > 0 ? shape.samples : shape.sampler->size();
    state.option("shuffled_samples", static_cast<double>(drawn));
    state.option("is_distributed", replicas > 0 ? 1 : 0);
    state.option("batch_size",
                 static_cast<double>(shape.batch_size * std::max(replicas, index_t{1})));
    state.option("batches", static_cast<double>(shape.batches));
  }
  state.value("transforms_seed", transforms);
  state.value("order_seed", order);
  // The generators that were given, and that of the order as it was when the epoch began.
  Generator* const own = detail::own_generator(shape.sampler);
  Generator of_order = seeds.generator.value_or(Generator());
  if (shape.generator.is_given()) state.part("generator", *shape.generator);
  if (own) {
    state.part("sampler_generator", *own);
    state.part("order_generator", of_order);
  }
  if (!state.is_reading()) return;
  seeds = {static_cast<std::uint64_t>(transforms), static_cast<std::uint64_t>(order)};
  if (own) seeds.generator = of_order;
  next = place;
}

}  // namespace gpunet::data
