// Batches of a dataset, decoded ahead of the training thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/math.hpp>
#include <gpunet/data/batch_buffers.hpp>
#include <gpunet/data/batch_iterator.hpp>
#include <gpunet/data/batch_ring.hpp>
#include <gpunet/data/dataset.hpp>
#include <gpunet/data/resident.hpp>
#include <gpunet/data/sampler.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/tensor/view.hpp>

#if GPUNET_CUDA  // here, so that every unit has the same version for Cuda
#include <gpunet/data/batch_buffers.cuh>
#endif

namespace gpunet::data {

// Changes a batch of n samples that has just been read: inputs [n, ...sample sizes], labels [n]. Whoever reads the batch calls
// it, several workers at the same time; what it draws from `random` depends on the epoch and the batch alone, so that batches
// are the same for any number of workers. What it throws reaches the loop. In PyTorch collate_fn also makes the batch; here it is
// there already, and keeps its shape.
using CollateFunction = std::function<void(View<float, Host> inputs, View<label_t, Host> labels, Random& random)>;

// As PyTorch's DataLoader takes them.
struct DataLoaderOptions {
  index_t batch_size = 1;
  bool shuffle = false;                                 // a new order for each epoch, from the default generator
  int num_workers = 0;                                  // threads that decode ahead; 0: the training thread decodes
  bool drop_last = false;                               // leave out the last batch if it is not full
  int prefetch_factor = 2;                              // batches that each worker may be ahead, 1024 at most
  std::optional<RandomSampler> sampler = std::nullopt;  // instead of shuffle
  CollateFunction collate_fn = nullptr;                 // changes each batch in place; shapes stay
};

// What `for` runs over: the batches on device D. Each loop is an epoch in an order of its own; its batches come in
// that order whatever the number of workers. A batch is valid until the next one is taken. Keeps its threads and
// memory to itself: nothing is allocated after the first batch of an epoch. Leaving the loop early is fine.
template <Device D>
class Batches {
 public:
  using value_type = Batch<D>;
  using Iterator = BatchIterator<Batches>;

  // The options are checked. The dataset and `device` must outlive this.
  Batches(const DatasetView& set, const DataLoaderOptions& options, index_t size, D& device)
      : set_(set),
        options_(options),
        size_(size),
        samples_(options.sampler ? options.sampler->size() : set.size()),
        source_(set, BatchBuffers<D>::takes_bytes && !options.collate_fn),
        ring_(slots()),
        buffers_(device, slots(), batch_sizes(), source_) {}
  ~Batches() { stop(); }
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  // Begins an epoch; one that still runs is left. Throws what the dataset throws, as ++ does.
  Iterator begin() & {
    stop();
    epoch_ = draw_epoch(set_.size(), options_.sampler);
    ring_.start(size_);
    try {
      while (static_cast<int>(workers_.size()) < options_.num_workers)
        workers_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      throw Error(concat("gpunet::data::DataLoader: the system gives only ", workers_.size(), " of ",
                         options_.num_workers, " worker threads (", error.what(), "), set num_workers to less"));
    }
    fetch(0);
    return Iterator(*this);
  }
  template <class Refused = Iterator>
  Refused begin() && {
    return refuse_temporary_batches<Refused>();
  }
  std::default_sentinel_t end() const { return {}; }

  // Batches in an epoch.
  index_t size() const { return size_; }

 private:
  friend Iterator;

  index_t slots() const {
    return std::max(BatchBuffers<D>::least_slots, index_t{options_.num_workers} * options_.prefetch_factor + 1);
  }
  Sizes batch_sizes() const { return set_.sample_sizes().with_front(options_.batch_size); }
  index_t first_sample(index_t batch) const { return std::min(batch * options_.batch_size, samples_); }
  index_t samples(index_t batch) const { return first_sample(batch + 1) - first_sample(batch); }

  // Lets go of the current batch and takes the given one, if there are so many.
  void fetch(index_t batch) {
    release();
    current_ = batch;
    if (batch == size_) return;
    if (ring_.want(batch)) fill(batch);
    batch_ = buffers_.send(ring_.slot(batch), samples(batch));
    sent_ = true;
  }
  void release() {
    if (sent_) buffers_.release(ring_.slot(current_));
    sent_ = false;
  }

  // Decodes a batch into its slot.
  void fill(index_t batch) {
    const index_t slot = ring_.slot(batch);
    buffers_.wait_reusable(slot);
    auto* inputs = static_cast<std::byte*>(buffers_.host_inputs(slot));
    label_t* labels = buffers_.host_labels(slot);
    for (index_t i = first_sample(batch); i < first_sample(batch + 1) && !ring_.stopped(); ++i) {
      Random random(epoch_.seed, static_cast<std::uint64_t>(i));  // whoever fills the batch draws the same
      *labels++ = source_.read(epoch_.order[static_cast<std::size_t>(i)], inputs, random);
      inputs += sample_bytes_;
    }
    if (options_.collate_fn && !ring_.stopped()) collate(batch, slot);
  }
  void collate(index_t batch, index_t slot) {
    const index_t n = samples(batch);
    Random random(epoch_.seed, static_cast<std::uint64_t>(samples_ + batch));  // behind those of the samples
    options_.collate_fn({static_cast<float*>(buffers_.host_inputs(slot)), set_.sample_sizes().with_front(n)},
                        {buffers_.host_labels(slot), {n}}, random);
  }

  // What a worker does.
  void work() {
    bool entered = false;
    for (index_t batch; (batch = ring_.begin_next()) >= 0;) {
      std::exception_ptr error;
      try {
        if (!std::exchange(entered, true)) buffers_.enter();
        fill(batch);
      } catch (...) {
        error = std::current_exception();
      }
      ring_.finish(batch, std::move(error));
    }
  }

  void stop() {
    ring_.stop();
    for (auto& worker : workers_)
      worker.join();
    workers_.clear();
    release();
  }

  DatasetView set_;
  DataLoaderOptions options_;
  index_t size_;
  index_t samples_;  // in an epoch
  SampleSource source_;
  std::size_t sample_bytes_ = source_.sample_bytes();
  Epoch epoch_;  // its order is [samples_]
  BatchRing ring_;
  BatchBuffers<D> buffers_;
  std::vector<std::thread> workers_;
  Batch<D> batch_;
  index_t current_ = 0;  // the batch that batch_ is
  bool sent_ = false;    // whether batch_ is in use
};

// A way to go through a dataset: for (auto [inputs, labels] : loader.to(device)) is one epoch; inputs are
// [n, ...sample sizes], labels [n]. Keeps a reference to the dataset.
class DataLoader {
 public:
  // Throws Error for options that make no batch.
  explicit DataLoader(const DatasetView& set, const DataLoaderOptions& options = {})
      : set_(set), options_(options) {
    constexpr std::string_view where = "gpunet::data::DataLoader: ";
    constexpr int most_workers = 1024;
    require(set.size() > 0, where, "the dataset is empty");
    require(set.size() <= most_elements, where, "the dataset has ", set.size(), " samples (want ", most_elements,
            " or fewer, no memory holds the order of more), check its size()");
    require(!options.sampler || (options.sampler->samples() == set.size() && !options.shuffle), where,
            "a sampler for another dataset, or with shuffle (want one of ", set.size(),
            " samples, without shuffle)");
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
    require(options.prefetch_factor <= most_ahead, where, "prefetch_factor ", options.prefetch_factor,
            " (want 1 to ", most_ahead, "): the batches decoded ahead would take ",
            static_cast<double>(options.num_workers) * options.prefetch_factor *
                static_cast<double>(options.batch_size) * static_cast<double>(set.sample_sizes().numel()) *
                sizeof(float),
            " bytes of host memory");
  }
  template <class Set>
  requires(!std::same_as<Set, DatasetView> && (Dataset<Set> || SampleDataset<Set>)) explicit DataLoader(
      const Set&&, const DataLoaderOptions& = {}) = delete;  // the loader would outlive the dataset

  // Batches in an epoch.
  index_t size() const {
    return options_.drop_last ? samples() / options_.batch_size : ceil_div(samples(), options_.batch_size);
  }
  const DatasetView& dataset() const { return set_; }
  const DataLoaderOptions& options() const { return options_; }

  // The batches on a device, for one loop or several.
  template <Device D>
  Batches<D> to(D& device) const {
    return {set_, options_, size(), device};
  }
  // The same batches from a copy of the whole dataset that lies on the device from now on: to be kept from epoch to
  // epoch. Throws Error if it does not fit, if the dataset draws its samples at random, or if there is a collate_fn.
  template <Device D>
  ResidentBatches<D> resident_on(D& device) const {
    require(!options_.collate_fn,
            "gpunet::data::DataLoader::resident_on: there is a collate_fn (it works on batches in ",
            "host memory, and these are made on the device), use to(device), or leave it out");
    return {set_, options_.batch_size, options_.sampler, size(), device};
  }

  // What `for` asks a loader for, which has no device.
  template <class Asked = DataLoader>
  auto begin() const {
    static_assert(!std::same_as<Asked, DataLoader>,
                  "gpunet::data::DataLoader: the batches want a device, write "
                  "for (auto [inputs, labels] : loader.to(device))");
    return this;
  }
  template <class Asked = DataLoader>
  auto end() const {
    return begin<Asked>();
  }

 private:
  // In an epoch.
  index_t samples() const { return options_.sampler ? options_.sampler->size() : set_.size(); }

  DatasetView set_;
  DataLoaderOptions options_;
};

}  // namespace gpunet::data
