// The requirements of a dataset, and DatasetView, which refers to one of any type.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <gpunet/core/shape.hpp>
#include <gpunet/data/sample_random.hpp>
#include <gpunet/data/transforms.hpp>

namespace gpunet::data {

// Labeled samples of one shape. Workers of a loader read a const dataset concurrently.
template <class Set>
concept Dataset = requires(const Set& set, index_t i, float* sample) {
  { set.size() } -> std::same_as<index_t>;               // number of samples
  { set.sample_sizes() } -> std::convertible_to<Sizes>;  // shape of one, e.g. [3, 32, 32]
  { set.read(i, sample) } -> std::same_as<label_t>;      // writes sample i >= 0, row-major; returns its label
};

// A dataset with random samples. It draws from the given generator, so that a batch does not depend on the worker that
// reads it.
template <class Set>
concept RandomDataset = Dataset<Set> && requires(const Set& set, index_t i, float* sample, Random& random) {
  { set.read(i, sample, random) } -> std::same_as<label_t>;
  { set.is_random() } -> std::same_as<bool>;  // whether this object has random samples
};

// A dataset that stores its samples as bytes. A GPU copies those, a quarter of the data, and computes the floats;
// read() must give the same floats. Optional: read_bytes(i, sample, random), and has_bytes(), which returns whether
// this object has bytes.
template <class Set>
concept ByteDataset = Dataset<Set> && requires(const Set& set, index_t i, std::uint8_t* sample) {
  { set.read_bytes(i, sample) } -> std::same_as<label_t>;    // writes sample i [channels, ...]; returns its label
  { set.pixel_table() } -> std::same_as<const PixelTable&>;  // the float for each byte of each channel
};

// A sample as a value, see SampleDataset.
struct Sample {
  std::vector<float> values;  // row-major
  Sizes sizes;                // e.g. [3, 32, 32]
  label_t label;
};

// A dataset with two functions, as in PyTorch. All samples must have the shape of the first one.
template <class Set>
concept SampleDataset = requires(const Set& set, index_t i) {
  { set.size() } -> std::same_as<index_t>;    // number of samples: __len__
  { set[i] } -> std::convertible_to<Sample>;  // sample i (0 to size() - 1): __getitem__
};

// Either kind of dataset.
template <class Set>
concept AnyDataset = Dataset<Set> || SampleDataset<Set>;

namespace detail {
// A compile error for a type that is not a dataset.
template <class Set, bool is_dataset = AnyDataset<Set>>
struct RequireDataset {
  static_assert(is_dataset,
                "gpunet::data: this is not a dataset, give its type two functions, both const: "
                "index_t size() const, and data::Sample operator[](index_t i) const");
};
}  // namespace detail

namespace detail {
// Throws Error unless a dataset of n samples has sample i.
inline void check_sample(index_t i, index_t n) {
  require(n > 0, "gpunet::data: sample ", i, " of a dataset of ", n, " samples, check its path, or its size()");
  require(0 <= i && i < n, "gpunet::data: sample ", i, " of a dataset of ", n, " samples (want 0 to ", n - 1, ")");
}
}  // namespace detail

// A reference to a dataset of any type, so that loaders are not templates of the dataset.
class DatasetView {
 public:
  // Stores a reference to the dataset.
  template <class Set>
  requires(!std::same_as<Set, DatasetView> && Dataset<Set>)
      DatasetView(const Set& set)  // implicit, as from string to string_view
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
  // The same; reads the first sample for the shape.
  template <class Set>
  requires(!Dataset<Set> && SampleDataset<Set>) DatasetView(const Set& set)
      : set_(&set), size_(set.size()), sample_sizes_(size_ > 0 ? Sample(set[0]).sizes : Sizes{}) {
    read_ = [](const DatasetView& view, index_t i, float* sample, Random&) {
      return view.copy(i, (*static_cast<const Set*>(view.set_))[i], sample);
    };
  }
  template <class Set>
  requires(!AnyDataset<Set>) DatasetView(const Set& set) : set_(&set) { (void)detail::RequireDataset<Set>{}; }
  // The same dataset, as floats unless `takes_bytes`.
  DatasetView(const DatasetView& set, bool takes_bytes) : DatasetView(set) {
    if (!takes_bytes) pixel_table_ = nullptr;
  }

  index_t size() const { return size_; }
  const Sizes& sample_sizes() const { return sample_sizes_; }
  // Returns whether two reads of one sample may differ.
  bool is_random() const { return is_random_; }
  // Writes sample i, row-major, and returns its label. Without `random`, the default generator seeds one.
  label_t read(index_t i, float* sample, Random& random) const { return read_(*this, i, sample, random); }
  label_t read(index_t i, float* sample) const;

  // Returns the table that maps bytes of samples to floats; null if read_raw() writes floats.
  const PixelTable* pixel_table() const { return pixel_table_; }
  // Returns the size of a sample as read_raw() writes it.
  std::size_t sample_bytes() const {
    return static_cast<std::size_t>(sample_sizes_.numel()) * (pixel_table_ ? 1 : sizeof(float));
  }
  // Writes sample i, as bytes if there is a pixel_table(), else as floats, and returns its label.
  label_t read_raw(index_t i, void* sample, Random& random) const {
    return pixel_table_ ? read_bytes_(*this, i, static_cast<std::uint8_t*>(sample), random)
                        : read_(*this, i, static_cast<float*>(sample), random);
  }

 private:
  // Writes a sample and returns its label. Throws Error if its shape is not that of the first one.
  label_t copy(index_t i, const Sample& from, float* sample) const;

  const void* set_;
  index_t size_ = 0;
  Sizes sample_sizes_;
  bool is_random_ = false;
  label_t (*read_)(const DatasetView&, index_t i, float* sample, Random&) = nullptr;
  const PixelTable* pixel_table_ = nullptr;
  label_t (*read_bytes_)(const DatasetView&, index_t i, std::uint8_t* sample, Random&) = nullptr;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/dataset.ipp>
#endif
