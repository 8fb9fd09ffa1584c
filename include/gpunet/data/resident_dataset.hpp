// A dataset that is stored on a device as a whole.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gpunet/core/math.hpp>
#include <gpunet/data/batch_buffers.hpp>
#include <gpunet/data/batch_iterator.hpp>
#include <gpunet/data/dataset.hpp>
#include <gpunet/data/sampler.hpp>
#include <gpunet/ops/gather_samples.hpp>

namespace gpunet::data {

// The batches of a dataset that was copied to device D as a whole (as bytes if it has bytes), as a
// range for loops. They are bitwise identical to the loader's batches; the device gathers each one
// when it is fetched. Only the order of the samples is copied, a million at a time. A batch is
// valid until the next one is fetched. After the constructor nothing is allocated on the device,
// and nothing waits for it.
template <class D, class Target = label_t>
class ResidentBatches {
 public:
  using value_type = Batch<D, Target>;
  using Iterator = BatchIterator<ResidentBatches>;

  // Copies the samples. `device` must outlive this, the dataset need not. Throws Error if they do
  // not fit.
  ResidentBatches(const DatasetView& set, index_t batch_size, const std::optional<Sampler>& sampler,
                  index_t size, D& device, const GeneratorOption& generator = {})
      : device_(device),
        samples_(set.size()),
        sample_sizes_(set.sample_sizes()),
        target_sizes_(set.target_sizes()),
        batch_size_(batch_size),
        sampler_(sampler),
        generator_(generator),
        size_(size) {
    require(!set.is_random(), where,
            "the transforms of the dataset draw random numbers (a copy has those of one epoch)",
            ", use to(device), or leave them out");
    reserve(set);
    load(set);
  }
  ResidentBatches(const ResidentBatches&) = delete;
  ResidentBatches& operator=(const ResidentBatches&) = delete;

  // Begins an epoch with a new order, or goes on with one from a checkpoint.
  Iterator begin() & {
    ++loops_;
    const index_t first = place_.begin(shape());
    sample_order_ = SampleOrder(samples_, sampler_, place_.seeds, first * batch_size_);
    ordered_ = first;
    fetch(first);
    return Iterator(*this);
  }
  template <class Refused = Iterator>
  Refused begin() && {
    return refuse_temporary_batches<Refused>();
  }
  std::default_sentinel_t end() const { return {}; }

  // Returns the number of batches in an epoch.
  index_t size() const { return size_; }

  // As of Batches.
  void set_epoch(index_t epoch) {
    if (sampler_) sampler_->set_epoch(epoch);
  }

  // Writes or reads the place in the epoch, see Batches.
  void visit_state(StateVisitor& state) {
    place_.visit_state(state, running_ ? std::min(current_ + 1, size_) : -1, shape());
    if (!state.is_reading()) return;
    ++loops_;
    running_ = false;
  }

 private:
  friend Iterator;
  index_t features() const { return sample_sizes_.numel(); }
  index_t target_features() const { return target_sizes_.numel(); }
  index_t epoch_samples() const { return sampler_ ? sampler_->size() : samples_; }
  EpochShape shape() const { return {samples_, sampler_, batch_size_, size_, generator_}; }

  // Allocates all memory.
  void reserve(const DatasetView& set) {
    constexpr index_t most = index_t{1} << 60;
    const index_t sample_bytes = static_cast<index_t>(set.sample_bytes());
    const index_t both = sample_bytes + static_cast<index_t>(set.target_bytes());
    const bool countable = Sizes{samples_, std::max(both, index_t{1})}.at_most(most);
    require(countable, where, "the dataset has ", samples_, " samples of ", both, " bytes", cure);
    const auto allocate = [&] {
      data_ = {device_, samples_ * sample_bytes};
      targets_ = {device_, samples_ * target_features()};
      order_ = {device_, std::min(epoch_samples(),
                                  std::max(batch_size_, most_ordered / batch_size_ * batch_size_))};
      batch_inputs_ = {device_, batch_size_ * features()};
      batch_targets_ = {device_, batch_size_ * target_features()};
      if (set.pixel_table())
        table_ = {device_, static_cast<index_t>(set.pixel_table()->values().size())};
    };
    gpunet::detail::attempt<Error>(allocate, [&](const Error& error) {
      throw_error(
          Error(concat(where, "the dataset takes ", samples_ * both, " bytes on ", device_.name(),
                       " (", samples_, " samples of ", both, ") and does not fit (", error.what(),
                       free_memory_text(device_), ")", cure)));
    });
  }

  // Copies the samples in chunks.
  void load(const DatasetView& set) {
    const std::size_t sample_bytes = set.sample_bytes();
    const auto most =
        static_cast<index_t>((std::size_t{256} << 10) / std::max(sample_bytes, std::size_t{1}));
    const index_t at_once = std::clamp(most, index_t{1}, samples_);
    std::vector<float> floats(set.pixel_table() ? 0
                                                : static_cast<std::size_t>(at_once * features()));
    std::vector<std::uint8_t> bytes(
        set.pixel_table() ? static_cast<std::size_t>(at_once * features()) : 0);
    std::vector<Target> targets(static_cast<std::size_t>(at_once * target_features()));
    std::byte* const chunk = static_cast<std::byte*>(
        set.pixel_table() ? static_cast<void*>(bytes.data()) : static_cast<void*>(floats.data()));
    for (index_t first = 0; first < samples_; first += at_once) {
      const auto count = static_cast<std::size_t>(std::min(at_once, samples_ - first));
      Random random(0);  // not used: the dataset is not random
      for (std::size_t i = 0; i < count; ++i)
        set.read_raw(first + static_cast<index_t>(i), chunk + i * sample_bytes,
                     targets.data() + i * static_cast<std::size_t>(target_features()), random);
      device_.upload(data_.data() + static_cast<std::size_t>(first) * sample_bytes, chunk,
                     count * sample_bytes);
      device_.upload(targets_.data() + first * target_features(), targets.data(),
                     count * set.target_bytes());
    }
    if (set.pixel_table()) {
      device_.upload(table_.data(), set.pixel_table()->values().data(), table_.bytes());
      pixels_ = features() * 256 / std::max(table_.size(), index_t{1});
    }
  }

  void fetch(index_t batch) {
    current_ = batch;
    if (batch == size_) return;
    const index_t begin = batch * batch_size_, n = std::min(batch_size_, epoch_samples() - begin);
    if (batch == ordered_) copy_order(begin);
    const index_t first = begin - first_ordered_;
    if (table_.size() == 0) gather<float>(first, n);
    if constexpr (std::is_same_v<Target, label_t>)  // labels of bytes are
      if (table_.size() > 0) gather<std::uint8_t>(first, n);
    batch_ = {{batch_inputs_.data(), sample_sizes_.with_front(n), &device_},
              {batch_targets_.data(), target_sizes_.with_front(n), &device_}};
  }
  // Copies the samples of the next batches to the device, `begin` samples into the epoch.
  void copy_order(index_t begin) {
    std::vector<index_t> order(
        static_cast<std::size_t>(std::min(order_.size(), epoch_samples() - begin)));
    sample_order_.read(order);
    device_.upload(order_.data(), order.data(), order.size() * sizeof(index_t));
    first_ordered_ = begin;
    ordered_ += ceil_div(std::ssize(order), batch_size_);
  }
  template <class Raw>
  void gather(index_t first, index_t n) {
    const auto* samples = static_cast<const Raw*>(static_cast<const void*>(data_.data()));
    gather_samples(
        device_, GatherSamples<Raw, Target>{n, features(), target_features(), samples,
                                            targets_.data(), order_.data() + first, table_.data(),
                                            pixels_, batch_inputs_.data(), batch_targets_.data()});
  }

  static constexpr std::string_view where = "gpunet::data::DataLoader::resident_on: ";
  static constexpr index_t most_ordered = index_t{1} << 20;  // samples in one copy of the order
  static constexpr std::string_view cure = ", use to(device), which keeps a few batches there";

  D& device_;
  index_t samples_;
  Sizes sample_sizes_, target_sizes_;
  index_t batch_size_;
  std::optional<Sampler> sampler_;
  GeneratorOption generator_;
  index_t size_;
  Buffer<std::byte, D> data_;  // [samples][features] of bytes or floats
  Buffer<Target, D> targets_;  // [samples][target_features]
  Buffer<index_t, D> order_;   // samples of batches, from first_ordered_ on
  Buffer<float, D> table_;     // see PixelTable; empty for samples of floats
  index_t pixels_ = 1;         // per channel
  Buffer<float, D> batch_inputs_;
  Buffer<Target, D> batch_targets_;
  Batch<D, Target> batch_;
  index_t current_ = 0;      // index of batch_
  std::uint64_t loops_ = 0;  // see BatchIterator
  bool running_ = false;
  EpochPlace place_;
  SampleOrder sample_order_;
  index_t first_ordered_ = 0;  // place in the epoch
  index_t ordered_ = 0;        // the first batch behind order_
};

#if GPUNET_COMPILED
extern template class ResidentBatches<Host, label_t>;
extern template class ResidentBatches<Host, float>;
#if GPUNET_CUDA
extern template class ResidentBatches<Cuda, label_t>;
extern template class ResidentBatches<Cuda, float>;
#endif
#endif

}  // namespace gpunet::data
