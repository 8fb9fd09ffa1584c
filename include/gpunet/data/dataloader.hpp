// DataLoader: batches of a dataset, read ahead by worker threads.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>

#include <gpunet/core/refused.hpp>
#include <gpunet/data/batch_buffers.hpp>
#include <gpunet/data/batch_iterator.hpp>
#include <gpunet/data/dataset.hpp>
#include <gpunet/data/resident_dataset.hpp>
#include <gpunet/data/sampler.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/tensor/view.hpp>

namespace gpunet::data {

// Changes a batch of n samples after it was read: inputs [n, ...sample sizes], targets [n,
// ...target sizes]. Workers call it concurrently. The numbers of `random` depend on the epoch and
// the batch only, so batches are the same for any number of workers. Exceptions are rethrown in the
// loop. In PyTorch collate_fn also makes the batch; here the batch exists and keeps its shape.
class CollateFunction {
  template <class Target>
  using Function =
      std::function<void(View<float, Host> inputs, View<Target, Host> targets, Random& random)>;

 public:
  CollateFunction(std::nullptr_t = nullptr) {}
  // For labels, for targets of floats, or for both.
  template <class F>
  requires(std::convertible_to<F, Function<label_t>> || std::convertible_to<F, Function<float>>)
      CollateFunction(const F& f) {
    if constexpr (std::convertible_to<F, Function<label_t>>) labels_ = f;
    if constexpr (std::convertible_to<F, Function<float>>) floats_ = f;
  }

  // Returns whether there is a function, and whether there is one for targets of this type.
  explicit operator bool() const { return labels_ || floats_; }
  bool takes(bool labels) const { return labels ? bool{labels_} : bool{floats_}; }

  void operator()(View<float, Host> inputs, View<label_t, Host> labels, Random& random) const {
    labels_(inputs, labels, random);
  }
  void operator()(View<float, Host> inputs, View<float, Host> targets, Random& random) const {
    floats_(inputs, targets, random);
  }

 private:
  Function<label_t> labels_;
  Function<float> floats_;
};

// Options of DataLoader, as in PyTorch.
struct DataLoaderOptions {
  index_t batch_size = 1;
  bool shuffle = false;  // a new random order per epoch
  // Threads that read ahead; 0: the training thread reads.
  int num_workers = 0;
  bool drop_last = false;  // omit the last batch if it is smaller
  // Batches that each worker may read ahead, 1 to 1024.
  int prefetch_factor = 2;
  // Instead of shuffle: a RandomSampler or DistributedSampler.
  std::optional<Sampler> sampler = std::nullopt;
  CollateFunction collate_fn = nullptr;  // changes each batch in place; shapes stay
  // Draws the orders and the seeds of random transforms, as PyTorch's generator, and the seeds of a
  // sampler without a generator of its own. Each epoch takes all of its words when it begins.
  GeneratorOption generator = {};
};

namespace detail {

// Fills the slots of a loader, by its workers or the calling thread: the part of Batches that does
// not depend on the device.
class BatchFiller {
 public:
  // `batches`: per epoch; `count`: number of slots. The slots must outlive this.
  BatchFiller(const DatasetView& set, const DataLoaderOptions& options, index_t batches,
              BatchSlots& batch_slots, index_t count);
  ~BatchFiller();  // after stop()

  // Begins an epoch, or goes on with one from a checkpoint; call stop() to end the previous one.
  // Returns the first batch.
  index_t start();
  void stop();

  // A filled slot. The batch is its first `samples` samples.
  struct Filled {
    index_t slot, samples;
  };
  // Returns a batch: waits for a worker, or fills the slot if no worker has begun. Batches are
  // taken in order, which frees the slots of earlier ones. Throws the errors of the dataset.
  Filled take(index_t batch);

  void set_epoch(index_t epoch);
  // See EpochPlace.
  void visit_state(StateVisitor& state, index_t running);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detail

// The batches on device D with targets of label_t or float, as a range for loops. Each loop is an
// epoch with a new order; batches come in that order for any number of workers. Only one loop at a
// time: a second one makes the first throw an Error. A batch is valid until the next one is
// fetched. After the first batch of an epoch nothing is allocated. A loop may be left early.
template <Device D, class Target = label_t>
class Batches {
 public:
  using value_type = Batch<D, Target>;
  using Iterator = BatchIterator<Batches>;

  // `size`: batches per epoch. The options are valid. `device` must outlive this.
  Batches(const DatasetView& set, const DataLoaderOptions& options, index_t size, D& device);
  ~Batches();
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  // Begins an epoch; a running one is ended. Throws the errors of the dataset, as ++ does.
  Iterator begin() & {
    ++loops_;
    stop();
    fetch(filler_.start());
    return Iterator(*this);
  }
  template <class Refused = Iterator>
  Refused begin() && {
    return refuse_temporary_batches<Refused>();
  }
  std::default_sentinel_t end() const { return {}; }

  // Returns the number of batches in an epoch.
  index_t size() const { return size_; }

  // Sets the epoch of a DistributedSampler. Does nothing for other orders.
  void set_epoch(index_t epoch) { filler_.set_epoch(epoch); }

  // Writes or reads the position in the epoch, for a checkpoint: written in a loop, the next loop
  // after reading continues with the batch after the current one.
  void visit_state(StateVisitor& state) {
    filler_.visit_state(state, running_ ? std::min(current_ + 1, size_) : -1);
    if (!state.is_reading()) return;
    ++loops_;  // an earlier loop has no batch any more
    running_ = false;
  }

 private:
  friend Iterator;

  Batches(const DatasetView& set, const DataLoaderOptions& options, index_t size,
          index_t slot_count, D& device);

  // Releases the current batch and fetches the given one, if it exists.
  void fetch(index_t batch);
  void release();
  void stop();

  D& device_;
  index_t size_;
  Sizes sample_sizes_, target_sizes_;
  BatchBuffers<D> buffers_;
  detail::BatchFiller filler_;
  Batch<D, Target> batch_;
  index_t current_ = 0;      // index of batch_; size_ if there is none
  index_t slot_ = -1;        // the slot of batch_ while it is in use
  std::uint64_t loops_ = 0;  // see BatchIterator
  bool running_ = false;
};

namespace detail {

// The part of DataLoader that does not depend on the type of the targets.
class AnyDataLoader {
 public:
  // Returns the number of batches in an epoch.
  index_t size() const;
  const DatasetView& dataset() const { return set_; }
  const DataLoaderOptions& options() const { return options_; }

 protected:
  // `labels`: whether targets are of label_t.
  AnyDataLoader(const DatasetView& set, const DataLoaderOptions& options, bool labels);

  // Throws Error if there is a collate_fn.
  void check_resident() const;
  // Returns the options of batches that draw from `generator` if the loader has none.
  DataLoaderOptions options_with(const GeneratorOption& generator) const;

  DatasetView set_;
  DataLoaderOptions options_;

 private:
  // Returns the number of samples in an epoch.
  index_t samples() const { return options_.sampler ? options_.sampler->size() : set_.size(); }
};

}  // namespace detail

// Makes batches of a dataset. One loop is one epoch; inputs are [n, ...sample sizes], labels [n],
// other targets [n, ...target sizes]:
//   data::DataLoader loader(set, {.batch_size = 4, .shuffle = true, .num_workers = 2});
//   auto batches = loader.to(device);
//   for (auto [inputs, labels] : batches) ...
// It has the dataset as a Subset has its own: a copy, or a temporary itself. Target, label_t or
// float, is that of the dataset: DataLoader<> has labels.
template <class Target = label_t>
class DataLoader : public detail::AnyDataLoader {
 public:
  // Throws Error for invalid options, an empty dataset, or one with targets of another type.
  explicit DataLoader(const DatasetView& set, const DataLoaderOptions& options = {})
      : AnyDataLoader(set, options, std::same_as<Target, label_t>) {}

  // Returns the batches on a device, for any number of loops. They draw from `generator` if the
  // loader has none.
  template <Device D>
  Batches<D, Target> to(D& device, const GeneratorOption& generator = {}) const {
    return {set_, options_with(generator), size(), device};
  }
  // Copies the whole dataset to the device and returns the same batches from the copy; keep them
  // for all epochs. Throws Error if it does not fit, if the dataset has random transforms, or if
  // there is a collate_fn.
  template <Device D>
  ResidentBatches<D, Target> resident_on(D& device) const {
    check_resident();
    return {set_, options_.batch_size, options_.sampler, size(), device, options_.generator};
  }

  // Compile errors of a loop over the loader itself, which has no device.
  template <class Asked = DataLoader>
  auto begin() const {
    static_assert(!std::same_as<Asked, DataLoader>,
                  "gpunet::data::DataLoader: the batches want a device, write for (auto [inputs, "
                  "labels] : loader.to(device))");
    return this;
  }
  template <class Asked = DataLoader>
  auto end() const {
    return begin<Asked>();
  }
};

// Gives the compiler one clear error for other arguments.
template <gpunet::detail::Wrong Target>
class DataLoader<Target> : public gpunet::detail::AnyArguments {
  static_assert(gpunet::detail::never<Target>,
                "gpunet::data::DataLoader: the arguments are a dataset and options with the names "
                "of DataLoaderOptions, write data::TensorDataset set(X, y); data::DataLoader "
                "loader(set, {.batch_size = 4, .shuffle = true})");

 public:
  using AnyArguments::AnyArguments;
};
DataLoader(...)->DataLoader<gpunet::detail::WrongArguments>;

template <AnyDataset Set>
DataLoader(const Set&) -> DataLoader<TargetOf<Set>>;
template <AnyDataset Set>
DataLoader(const Set&, const DataLoaderOptions&) -> DataLoader<TargetOf<Set>>;
template <AnyDataset Set>
DataLoader(std::reference_wrapper<Set>) -> DataLoader<TargetOf<Set>>;
template <AnyDataset Set>
DataLoader(std::reference_wrapper<Set>, const DataLoaderOptions&) -> DataLoader<TargetOf<Set>>;

template <Device D, class Target>
Batches<D, Target>::Batches(const DatasetView& set, const DataLoaderOptions& options, index_t size,
                            D& device)
    : Batches(DatasetView(set, BatchBuffers<D>::takes_bytes && !options.collate_fn), options, size,
              std::max(BatchBuffers<D>::least_slots,
                       index_t{options.num_workers} * options.prefetch_factor + 1),
              device) {}

template <Device D, class Target>
Batches<D, Target>::Batches(const DatasetView& set, const DataLoaderOptions& options, index_t size,
                            index_t slot_count, D& device)
    : device_(device),
      size_(size),
      sample_sizes_(set.sample_sizes()),
      target_sizes_(set.target_sizes()),
      buffers_(device, slot_count, options.batch_size, set),
      filler_(set, options, size, buffers_, slot_count) {}

template <Device D, class Target>
Batches<D, Target>::~Batches() {
  stop();
}

template <Device D, class Target>
void Batches<D, Target>::fetch(index_t batch) {
  release();
  current_ = size_;  // the end, also if one of these throws
  if (batch == size_) return;
  const auto [slot, samples] = filler_.take(batch);
  const BatchMemory memory = buffers_.send(slot, samples);
  batch_ = {
      {memory.inputs, sample_sizes_.with_front(samples), &device_},
      {static_cast<const Target*>(memory.targets), target_sizes_.with_front(samples), &device_}};
  slot_ = slot;
  current_ = batch;
}

template <Device D, class Target>
void Batches<D, Target>::release() {
  if (slot_ >= 0) buffers_.release(slot_);
  slot_ = -1;
}

template <Device D, class Target>
void Batches<D, Target>::stop() {
  filler_.stop();
  release();
}

#if GPUNET_COMPILED
extern template class Batches<Host, label_t>;
extern template class Batches<Host, float>;
#if GPUNET_CUDA
extern template class Batches<Cuda, label_t>;
extern template class Batches<Cuda, float>;
#endif
#endif

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/dataloader.ipp>
#endif
