// What a dataset is.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gpunet/core/shape.hpp>
#include <gpunet/data/sample_random.hpp>
#include <gpunet/data/transforms.hpp>

namespace gpunet::data {

// Labelled samples, all of one shape. A const set may be read by several threads at once.
template <class Set>
concept Dataset = requires(const Set& set, index_t i, float* sample) {
  { set.size() } -> std::same_as<index_t>;               // how many samples
  { set.sample_sizes() } -> std::convertible_to<Sizes>;  // the shape of one, e.g. [3, 32, 32]
  { set.read(i, sample) } -> std::same_as<label_t>;      // writes sample i < size(), row-major; returns its label
};

// A dataset whose samples may differ from read to read: it draws from the Random that comes with a sample, so that the
// numbers of a batch do not depend on who reads it.
template <class Set>
concept RandomDataset = Dataset<Set> && requires(const Set& set, index_t i, float* sample, Random& random) {
  { set.read(i, sample, random) } -> std::same_as<label_t>;
  { set.is_random() } -> std::same_as<bool>;  // whether this one does differ
};

// A dataset that keeps its samples as bytes. A device with memory of its own takes those and makes the floats itself,
// so that a quarter of the bytes travel; read() has to give the same floats. It may have a read_bytes(i, sample,
// random) too, and a has_bytes() that says whether this one does keep them.
template <class Set>
concept ByteDataset = Dataset<Set> && requires(const Set& set, index_t i, std::uint8_t* sample) {
  { set.read_bytes(i, sample) } -> std::same_as<label_t>;    // writes sample i [channels, ...]; returns its label
  { set.pixel_table() } -> std::same_as<const PixelTable&>;  // what each byte of each channel becomes
};

// A sample as a value: see SampleDataset.
struct Sample {
  std::vector<float> values;  // row-major
  Sizes sizes;                // e.g. [3, 32, 32]
  label_t label;
};

// A dataset of two functions, as PyTorch's are. All samples have the sizes of the first one.
template <class Set>
concept SampleDataset = requires(const Set& set, index_t i) {
  { set.size() } -> std::same_as<index_t>;    // how many samples: __len__
  { set[i] } -> std::convertible_to<Sample>;  // sample i < size(): __getitem__
};

// Either kind of dataset.
template <class Set>
concept AnyDataset = Dataset<Set> || SampleDataset<Set>;

// A dataset of any type, by reference: what reads through it compiles once for all of them.
class DatasetView {
 public:
  // Keeps a reference to the set.
  template <class Set>
  requires(!std::same_as<Set, DatasetView> && Dataset<Set>)
      DatasetView(const Set& set)  // implicit, as a string_view is made of a string
      : set_(&set), size_(set.size()), sample_sizes_(set.sample_sizes()) {
    read_ = [](const DatasetView& view, index_t i, float* sample, [[maybe_unused]] Random& random) -> label_t {
      const Set& of = *static_cast<const Set*>(view.set_);
      if constexpr (RandomDataset<Set>)
        return of.read(i, sample, random);
      else
        return of.read(i, sample);
    };
    if constexpr (RandomDataset<Set>) is_random_ = set.is_random();
    if constexpr (ByteDataset<Set>) {
      if constexpr (requires { set.has_bytes(); })
        if (!set.has_bytes()) return;
      pixel_table_ = &set.pixel_table();
      read_bytes_ = [](const DatasetView& view, index_t i, std::uint8_t* sample,
                       [[maybe_unused]] Random& random) -> label_t {
        const Set& of = *static_cast<const Set*>(view.set_);
        if constexpr (requires { of.read_bytes(i, sample, random); })
          return of.read_bytes(i, sample, random);
        else
          return of.read_bytes(i, sample);
      };
    }
  }
  // Reads the first sample for its sizes.
  template <class Set>
  requires(!Dataset<Set> && SampleDataset<Set>) DatasetView(const Set& set)
      : set_(&set), size_(set.size()), sample_sizes_(size_ > 0 ? Sample(set[0]).sizes : Sizes{}) {
    read_ = [](const DatasetView& view, index_t i, float* sample, Random&) {
      return view.copy(i, (*static_cast<const Set*>(view.set_))[i], sample);
    };
  }
  // The same set, with floats only unless `takes_bytes`.
  DatasetView(const DatasetView& set, bool takes_bytes) : DatasetView(set) {
    if (!takes_bytes) pixel_table_ = nullptr;
  }

  index_t size() const { return size_; }
  const Sizes& sample_sizes() const { return sample_sizes_; }
  // Whether two reads of one sample may differ; where nobody gives a Random, the default generator seeds one.
  bool is_random() const { return is_random_; }
  // Writes sample i; returns its label.
  label_t read(index_t i, float* sample, Random& random) const { return read_(*this, i, sample, random); }
  label_t read(index_t i, float* sample) const;

  // What becomes of the bytes of samples; null if there are floats only.
  const PixelTable* pixel_table() const { return pixel_table_; }
  // The size of a sample as read_raw() writes it.
  std::size_t sample_bytes() const {
    return static_cast<std::size_t>(sample_sizes_.numel()) * (pixel_table_ ? 1 : sizeof(float));
  }
  // Writes sample i, as bytes where there is a pixel_table(), else as floats; returns its label.
  label_t read_raw(index_t i, void* sample, Random& random) const {
    return pixel_table_ ? read_bytes_(*this, i, static_cast<std::uint8_t*>(sample), random)
                        : read_(*this, i, static_cast<float*>(sample), random);
  }

 private:
  // Writes a sample. Throws Error if its shape is not that of the first one.
  label_t copy(index_t i, const Sample& from, float* sample) const;

  const void* set_;
  index_t size_;
  Sizes sample_sizes_;
  bool is_random_ = false;
  label_t (*read_)(const DatasetView&, index_t i, float* sample, Random&);
  const PixelTable* pixel_table_ = nullptr;
  label_t (*read_bytes_)(const DatasetView&, index_t i, std::uint8_t* sample, Random&) = nullptr;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/dataset.ipp>
#endif
