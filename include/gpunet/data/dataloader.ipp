// Bodies of dataloader.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/math.hpp>
#include <gpunet/data/batch_ring.hpp>
#include <gpunet/data/dataloader.hpp>

namespace gpunet::data {

struct detail::BatchFiller::State {
  State(const DatasetView& of, const DataLoaderOptions& with, index_t n, BatchSlots& to, index_t count)
      : set(of),
        options(with),
        batches(n),
        samples(with.sampler ? with.sampler->size() : of.size()),
        slots(to),
        ring(count) {}

  index_t first_sample(index_t batch) const { return std::min(batch * options.batch_size, samples); }

  // Fills the slot of a batch.
  void fill(index_t batch) {
    const index_t slot = ring.slot(batch), first = first_sample(batch), n = first_sample(batch + 1) - first;
    slots.wait_reusable(slot);
    auto* inputs = static_cast<std::byte*>(slots.host_inputs(slot));
    label_t* labels = slots.host_labels(slot);
    const std::size_t sample_bytes = set.sample_bytes();
    for (index_t i = first; i < first + n && !ring.stopped(); ++i) {
      Random random(epoch.seed, static_cast<std::uint64_t>(i));  // the same for any number of workers
      *labels++ = set.read_raw(epoch.order[static_cast<std::size_t>(i)], inputs, random);
      inputs += sample_bytes;
    }
    if (!options.collate_fn || ring.stopped()) return;
    Random random(epoch.seed, static_cast<std::uint64_t>(samples + batch));  // after those of the samples
    options.collate_fn({static_cast<float*>(slots.host_inputs(slot)), set.sample_sizes().with_front(n)},
                       {slots.host_labels(slot), {n}}, random);
  }

  // The loop of a worker.
  void work() {
    bool entered = false;
    for (index_t batch; (batch = ring.begin_next()) >= 0;) {
      std::exception_ptr error;
      try {
        if (!std::exchange(entered, true)) slots.enter();
        fill(batch);
      } catch (...) {
        error = std::current_exception();
      }
      ring.finish(batch, std::move(error));
    }
  }

  DatasetView set;
  DataLoaderOptions options;
  index_t batches, samples;  // in an epoch
  BatchSlots& slots;
  BatchRing ring;
  EpochDraws epoch = {};  // its order is [samples]
  std::vector<std::thread> workers = {};
};

GPUNET_INLINE detail::BatchFiller::BatchFiller(const DatasetView& set, const DataLoaderOptions& options,
                                               index_t batches, BatchSlots& slots, index_t count)
    : state_(std::make_unique<State>(set, options, batches, slots, count)) {}
GPUNET_INLINE detail::BatchFiller::~BatchFiller() = default;

GPUNET_INLINE void detail::BatchFiller::start() {
  State& state = *state_;
  state.epoch = draw_epoch(state.set.size(), state.options.sampler);
  state.ring.start(state.batches);
  try {
    while (static_cast<int>(state.workers.size()) < state.options.num_workers)
      state.workers.emplace_back([&state] { state.work(); });
  } catch (const std::system_error& error) {
    throw Error(concat("gpunet::data::DataLoader: the system gives only ", state.workers.size(), " of ",
                       state.options.num_workers, " worker threads (", error.what(), "), set num_workers to less"));
  }
}

GPUNET_INLINE void detail::BatchFiller::stop() {
  state_->ring.stop();
  for (auto& worker : state_->workers)
    worker.join();
  state_->workers.clear();
}

GPUNET_INLINE detail::BatchFiller::Filled detail::BatchFiller::take(index_t batch) {
  if (state_->ring.want(batch)) state_->fill(batch);
  return {state_->ring.slot(batch), state_->first_sample(batch + 1) - state_->first_sample(batch)};
}

GPUNET_INLINE DataLoader::DataLoader(const DatasetView& set, const DataLoaderOptions& options)
    : set_(set), options_(options) {
  constexpr std::string_view where = "gpunet::data::DataLoader: ";
  constexpr int most_workers = 1024;
  require(set.size() != 0, where, "the dataset is empty (no batch can be made), check its path, or its size()");
  require(set.size() > 0, where, "the dataset has ", set.size(), " samples (want 1 or more), check its size()");
  require(set.size() <= most_elements, where, "the dataset has ", set.size(), " samples (want ", most_elements,
          " or fewer, no memory holds the order of more), check its size()");
  if (options.sampler) {
    require(options.sampler->samples() == set.size(), where, "a sampler for another dataset, of ",
            options.sampler->samples(), " samples (want ", set.size(), "), give data::RandomSampler(set.size())");
    require(!options.shuffle, where, "a sampler with shuffle (it has an order of its own), omit shuffle");
  }
  if (options.shuffle) options_.sampler = RandomSampler(set.size());
  require(options.batch_size >= 1, where, "batch_size ", options.batch_size, " (want 1 to ", samples(),
          ", the size of the dataset)");
  require(options.batch_size <= samples(), where, "batch_size ", options.batch_size,
          " is larger than the dataset (want 1 to ", samples(), ")");
  const Sizes batch = set.sample_sizes().with_front(options.batch_size);
  require(batch.at_most(most_elements), where, "batches of shape ", to_string(batch),
          " (want 2^48 numbers or fewer, no memory holds more), use a smaller batch_size or smaller samples");
  require(0 <= options.num_workers && options.num_workers <= most_workers, where, "num_workers ",
          options.num_workers, " (want 0 to ", most_workers, ")");
  constexpr int most_ahead = 1024;
  require(options.prefetch_factor >= 1, where, "prefetch_factor ", options.prefetch_factor, " (want 1 to ",
          most_ahead, ")");
  require(options.prefetch_factor <= most_ahead, where, "prefetch_factor ", options.prefetch_factor, " (want 1 to ",
          most_ahead, "): the batches decoded ahead would take ",
          static_cast<double>(options.num_workers) * options.prefetch_factor *
              static_cast<double>(options.batch_size) * static_cast<double>(set.sample_sizes().numel()) *
              sizeof(float),
          " bytes of host memory");
}

GPUNET_INLINE index_t DataLoader::size() const {
  return options_.drop_last ? samples() / options_.batch_size : ceil_div(samples(), options_.batch_size);
}

GPUNET_INLINE void DataLoader::check_resident() const {
  require(!options_.collate_fn,
          "gpunet::data::DataLoader::resident_on: there is a collate_fn (it works on batches in ",
          "host memory, and these are made on the device), use to(device), or leave it out");
}

#if GPUNET_COMPILED
template class Batches<Host>;
#endif

}  // namespace gpunet::data
