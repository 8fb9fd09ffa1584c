// Batches of a dataset, decoded ahead of the training thread.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>

#include <gpunet/data/batch_buffers.hpp>
#include <gpunet/data/batch_iterator.hpp>
#include <gpunet/data/dataset.hpp>
#include <gpunet/data/resident.hpp>
#include <gpunet/data/sampler.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/tensor/view.hpp>

namespace gpunet::data {

// Changes a batch of n samples that has just been read: inputs [n, ...sample sizes], labels [n]. Whoever reads the
// batch calls it, several workers at the same time; what it draws from `random` depends on the epoch and the batch
// alone, so that batches are the same for any number of workers. What it throws reaches the loop. In PyTorch collate_fn
// also makes the batch; here it is there already, and keeps its shape.
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

namespace detail {

// Fills the slots of a loader with batches, by its workers or the calling thread: all of Batches that is the same for
// any device.
class BatchFiller {
 public:
  // For `batches` batches an epoch, in a ring of `count` slots. The dataset and the slots must outlive this.
  BatchFiller(const DatasetView& set, const DataLoaderOptions& options, index_t batches, BatchSlots& slots,
              index_t count);
  ~BatchFiller();  // after stop()

  // Begins an epoch; stop() ends the one before.
  void start();
  void stop();

  // A filled slot; the batch is its first `samples` samples.
  struct Filled {
    index_t slot, samples;
  };
  // Waits for a batch, or fills it if no worker has begun it. Batches are taken in order; the slots of those before are
  // free from now on. Throws what the dataset throws.
  Filled take(index_t batch);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detail

// What `for` runs over: the batches on device D. Each loop is an epoch in an order of its own; its batches come in
// that order whatever the number of workers. One loop at a time: a second one, while the first runs, ends the first in
// an Error. A batch is valid until the next one is taken. Keeps its threads and memory to itself: nothing is allocated
// after the first batch of an epoch. Leaving the loop early is fine.
template <Device D>
class Batches {
 public:
  using value_type = Batch<D>;
  using Iterator = BatchIterator<Batches>;

  // The options are checked. The dataset and `device` must outlive this.
  Batches(const DatasetView& set, const DataLoaderOptions& options, index_t size, D& device)
      : Batches(DatasetView(set, BatchBuffers<D>::takes_bytes && !options.collate_fn), options, size,
                std::max(BatchBuffers<D>::least_slots, index_t{options.num_workers} * options.prefetch_factor + 1),
                device) {}
  ~Batches() { stop(); }
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  // Begins an epoch; one that still runs is left. Throws what the dataset throws, as ++ does.
  Iterator begin() & {
    ++loops_;
    stop();
    filler_.start();
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

  Batches(const DatasetView& set, const DataLoaderOptions& options, index_t size, index_t slots, D& device)
      : size_(size),
        buffers_(device, slots, set.sample_sizes().with_front(options.batch_size), set),
        filler_(set, options, size, buffers_, slots) {}

  // Releases the current batch and takes the given one, if there are so many.
  void fetch(index_t batch) {
    release();
    current_ = batch;
    if (batch == size_) return;
    const auto [slot, samples] = filler_.take(batch);
    batch_ = buffers_.send(slot, samples);
    slot_ = slot;
  }
  void release() {
    if (slot_ >= 0) buffers_.release(slot_);
    slot_ = -1;
  }
  void stop() {
    filler_.stop();
    release();
  }

  index_t size_;
  BatchBuffers<D> buffers_;
  detail::BatchFiller filler_;
  Batch<D> batch_;
  index_t current_ = 0;      // the batch that batch_ is
  index_t slot_ = -1;        // the slot of batch_ while it is in use
  std::uint64_t loops_ = 0;  // see BatchIterator
};

// A way to go through a dataset: for (auto [inputs, labels] : loader.to(device)) is one epoch; inputs are
// [n, ...sample sizes], labels [n]. Keeps a reference to the dataset.
class DataLoader {
 public:
  // Throws Error for options that make no batch.
  explicit DataLoader(const DatasetView& set, const DataLoaderOptions& options = {});
  template <class Set>
  requires(!std::same_as<Set, DatasetView> && AnyDataset<Set>) explicit DataLoader(
      const Set&&, const DataLoaderOptions& = {}) = delete;  // the loader would outlive the dataset

  // Batches in an epoch.
  index_t size() const;
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
    check_resident();
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
  // Throws Error if there is a collate_fn.
  void check_resident() const;

  DatasetView set_;
  DataLoaderOptions options_;
};

#if GPUNET_COMPILED
extern template class Batches<Host>;
#if GPUNET_CUDA
extern template class Batches<Cuda>;
#endif
#endif

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/dataloader.ipp>
#endif
