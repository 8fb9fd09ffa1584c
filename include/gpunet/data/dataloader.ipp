// Bodies of dataloader.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/math.hpp>
#include <gpunet/core/owner_process.hpp>
#include <gpunet/data/batch_ring.hpp>
#include <gpunet/data/dataloader.hpp>

namespace gpunet::data {

struct detail::BatchFiller::State {
  State(const DatasetView& of, const DataLoaderOptions& with, index_t n, BatchSlots& to,
        index_t count)
      : set(of),
        options(with),
        batches(n),
        samples(with.sampler ? with.sampler->size() : of.size()),
        batch_slots(to),
        ring(count),
        indices(static_cast<std::size_t>(count),
                std::vector<index_t>(static_cast<std::size_t>(first_sample(1)))) {}

  index_t first_sample(index_t batch) const {
    return std::min(batch * options.batch_size, samples);
  }
  index_t place_of(index_t sample) const {
    return options.sampler ? options.sampler->place_of(sample) : sample;
  }

  EpochShape shape() const {
    return {set.size(), options.sampler, options.batch_size, batches, options.generator};
  }

  std::vector<index_t>& indices_of(index_t batch) {
    return indices[static_cast<std::size_t>(ring.slot(batch))];
  }
  // Returns the samples of a batch. Draws them after the samples of all earlier batches, whose
  // slots are in use.
  const std::vector<index_t>& draw(index_t batch) {
    const std::lock_guard lock(order_mutex);
    for (; ordered <= batch; ++ordered) {
      std::vector<index_t>& own = indices_of(ordered);
      own.resize(static_cast<std::size_t>(first_sample(ordered + 1) - first_sample(ordered)));
      order.read(own);
    }
    return indices_of(batch);
  }

  // Fills the slot of a batch.
  void fill(index_t batch) {
    const index_t slot = ring.slot(batch), first = first_sample(batch),
                  n = first_sample(batch + 1) - first;
    const std::vector<index_t>& of_batch = draw(batch);
    batch_slots.wait_reusable(slot);
    auto* inputs = static_cast<std::byte*>(batch_slots.host_inputs(slot));
    auto* targets = static_cast<std::byte*>(batch_slots.host_targets(slot));
    const std::size_t sample_bytes = set.sample_bytes(), target_bytes = set.target_bytes();
    for (index_t i = first; i < first + n && !ring.stopped(); ++i) {
      // The same for any number of workers, and of processes.
      Random random(place.seeds.transforms, static_cast<std::uint64_t>(place_of(i)));
      set.read_raw(of_batch[static_cast<std::size_t>(i - first)], inputs, targets, random);
      inputs += sample_bytes;
      targets += target_bytes;
    }
    if (!options.collate_fn || ring.stopped()) return;
    if (set.has_labels())
      collate<label_t>(batch, slot, n);
    else
      collate<float>(batch, slot, n);
  }
  template <class Target>
  void collate(index_t batch, index_t slot, index_t n) {
    // Samples of all processes.
    const index_t all = place_of(samples) - place_of(0);
    // Drawn after the numbers of the samples.
    Random random(place.seeds.transforms, static_cast<std::uint64_t>(all + batch));
    options.collate_fn(View<float, Host>(static_cast<float*>(batch_slots.host_inputs(slot)),
                                         set.sample_sizes().with_front(n), &host),
                       View<Target, Host>(static_cast<Target*>(batch_slots.host_targets(slot)),
                                          set.target_sizes().with_front(n), &host),
                       random);
  }

  // The loop of a worker.
  void work() {
    bool entered = false;
    for (index_t batch; (batch = ring.begin_next()) >= 0;) {
      std::exception_ptr error;
      gpunet::detail::attempt(
          [&] {
            if (!std::exchange(entered, true)) batch_slots.enter();
            fill(batch);
          },
          [&] { error = std::current_exception(); });
      ring.finish(batch, std::move(error));
    }
  }

  DatasetView set;
  DataLoaderOptions options;
  Host host{HostOptions{.threads = 1}};  // of the views that collate_fn gets
  index_t batches, samples;              // in an epoch
  BatchSlots& batch_slots;
  BatchRing ring;
  EpochPlace place = {};
  SampleOrder order = {};                     // of the epoch
  index_t ordered = 0;                        // the first batch without drawn samples
  std::vector<std::vector<index_t>> indices;  // [slot], of its batch
  std::mutex order_mutex = {};
  std::vector<std::thread> workers = {};
  gpunet::detail::OwnerProcess owner = {};  // of the workers
};

GPUNET_INLINE detail::BatchFiller::BatchFiller(const DatasetView& set,
                                               const DataLoaderOptions& options, index_t batches,
                                               BatchSlots& batch_slots, index_t count)
    : state_(std::make_unique<State>(set, options, batches, batch_slots, count)) {}
GPUNET_INLINE detail::BatchFiller::~BatchFiller() = default;

GPUNET_INLINE index_t detail::BatchFiller::start() {
  State& state = *state_;
  const index_t first = state.place.begin(state.shape());
  state.owner = {};
  state.order = SampleOrder(state.set.size(), state.options.sampler, state.place.seeds,
                            state.first_sample(first));
  state.ordered = first;
  state.ring.start(state.batches, first);
  const auto start_workers = [&state] {
    while (static_cast<int>(state.workers.size()) < state.options.num_workers)
      state.workers.emplace_back([&state] { state.work(); });
  };
  gpunet::detail::attempt<std::system_error>(
      start_workers, [&state](const std::system_error& error) {
        throw_error(Error(concat("gpunet::data::DataLoader: the system gives only ",
                                 state.workers.size(), " of ", state.options.num_workers,
                                 " worker threads (", error.what(), "), set num_workers to less")));
      });
  return first;
}

GPUNET_INLINE void detail::BatchFiller::set_epoch(index_t epoch) {
  if (state_->options.sampler) state_->options.sampler->set_epoch(epoch);
}

GPUNET_INLINE void detail::BatchFiller::visit_state(StateVisitor& state, index_t running) {
  state_->place.visit_state(state, running, state_->shape());
}

GPUNET_INLINE void detail::BatchFiller::stop() {
  State& state = *state_;
  const bool can_wait = state.workers.empty() || state.owner.is_this();
  if (can_wait)
    state.ring.stop();
  else
    state.ring.forget_workers();
  for (auto& worker : state.workers)
    if (can_wait)
      worker.join();
    else
      gpunet::detail::forget(worker);
  state.workers.clear();
}

GPUNET_INLINE detail::BatchFiller::Filled detail::BatchFiller::take(index_t batch) {
  require(state_->workers.empty() || state_->owner.is_this(),
          "gpunet::data::DataLoader: an epoch that began before ",
          "fork() goes on in the child (its workers are threads of the parent), begin an epoch in "
          "the child");
  if (state_->ring.want(batch)) state_->fill(batch);
  return {state_->ring.slot(batch), state_->first_sample(batch + 1) - state_->first_sample(batch)};
}

GPUNET_INLINE detail::AnyDataLoader::AnyDataLoader(const DatasetView& set,
                                                   const DataLoaderOptions& options, bool labels)
    : set_(set), options_(options) {
  constexpr std::string_view where = "gpunet::data::DataLoader: ";
  constexpr int most_workers = 1024;
  require(set.has_labels() == labels, where, "the targets of the dataset are of ",
          set.has_labels() ? "label_t" : "float", ", those of the loader of ",
          labels ? "label_t" : "float",
          ", write DataLoader loader(set), which has those of the set");
  require(!options.collate_fn || options.collate_fn.takes(labels), where,
          "collate_fn takes targets of ", labels ? "float" : "label_t", " (want ",
          labels ? "label_t" : "float", ", those of the dataset), change its second argument");
  require(set.size() != 0, where,
          "the dataset is empty (no batch can be made), check its path, or its size()");
  require(set.size() > 0, where, "the dataset has ", set.size(),
          " samples (want 1 or more), check its size()");
  require(set.size() <= most_elements, where, "the dataset has ", set.size(), " samples (want ",
          most_elements, " or fewer, no memory holds the order of more), check its size()");
  if (options.sampler) {
    require(options.sampler->samples() == set.size(), where, "a sampler for another dataset, of ",
            options.sampler->samples(), " samples (want ", set.size(),
            "), give data::RandomSampler(set.size())");
    require(!options.shuffle, where,
            "a sampler with shuffle (it has an order of its own), omit shuffle");
  }
  if (options.shuffle)
    options_.sampler = RandomSampler(set.size(), {.generator = options.generator});
  require(options.batch_size >= 1, where, "batch_size ", options.batch_size, " (want 1 to ",
          samples(), ", the size of the dataset)");
  require(options.batch_size <= samples(), where, "batch_size ", options.batch_size,
          " is larger than the dataset (want 1 to ", samples(), ")");
  for (const Sizes& of_one : {set.sample_sizes(), set.target_sizes()}) {
    const Sizes batch = of_one.with_front(options.batch_size);
    require(batch.at_most(most_elements), where, "batches of shape ", to_string(batch),
            " (want 2^48 numbers or fewer, no memory holds more), use a smaller batch_size or "
            "smaller samples");
  }
  require(0 <= options.num_workers && options.num_workers <= most_workers, where, "num_workers ",
          options.num_workers, " (want 0 to ", most_workers, ")");
  constexpr int most_ahead = 1024;
  require(options.prefetch_factor >= 1, where, "prefetch_factor ", options.prefetch_factor,
          " (want 1 to ", most_ahead, ")");
  require(options.prefetch_factor <= most_ahead, where, "prefetch_factor ", options.prefetch_factor,
          " (want 1 to ", most_ahead, "): the batches decoded ahead would take ",
          static_cast<double>(options.num_workers) * options.prefetch_factor *
              static_cast<double>(options.batch_size) *
              static_cast<double>(set.sample_sizes().numel()) * sizeof(float),
          " bytes of host memory");
}

GPUNET_INLINE index_t detail::AnyDataLoader::size() const {
  return options_.drop_last ? samples() / options_.batch_size
                            : ceil_div(samples(), options_.batch_size);
}

GPUNET_INLINE DataLoaderOptions
detail::AnyDataLoader::options_with(const GeneratorOption& generator) const {
  DataLoaderOptions options = options_;
  if (options.generator.is_given() || !generator.is_given()) return options;
  options.generator = generator;
  if (options.shuffle) options.sampler = RandomSampler(set_.size(), {.generator = generator});
  return options;
}

GPUNET_INLINE void detail::AnyDataLoader::check_resident() const {
  require(!options_.collate_fn,
          "gpunet::data::DataLoader::resident_on: there is a collate_fn (it works on batches in ",
          "host memory, and these are made on the device), use to(device), or leave it out");
}

#if GPUNET_COMPILED
template class Batches<Host, label_t>;
template class Batches<Host, float>;
#endif

}  // namespace gpunet::data
