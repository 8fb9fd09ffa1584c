// What a dataset is.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <gpunet/core/sizes.hpp>
#include <gpunet/data/transforms.hpp>

namespace gpunet::data {

// Labelled samples, all of one shape. A const set may be read by several threads at once.
template <class Set>
concept Dataset = requires(const Set& set, index_t i, float* sample) {
  { set.size() } -> std::same_as<index_t>;               // how many samples
  { set.sample_sizes() } -> std::convertible_to<Sizes>;  // the shape of one, e.g. [3, 32, 32]
  { set.read(i, sample) } -> std::same_as<label_t>;      // writes sample i < size(), row-major; returns its label
};

// A dataset that keeps its samples as bytes. A device with memory of its own takes those and makes the floats itself, so
// that a quarter of the bytes travel; read() has to give the same floats.
template <class Set>
concept ByteDataset = Dataset<Set> && requires(const Set& set, index_t i, std::uint8_t* sample) {
  { set.read_bytes(i, sample) } -> std::same_as<label_t>;    // writes sample i [channels, ...]; returns its label
  { set.pixel_table() } -> std::same_as<const PixelTable&>;  // what each byte of each channel becomes
};

// A dataset of any type, by reference: what reads through it compiles once for all of them.
class DatasetView {
 public:
  template <class Set>
  requires(!std::same_as<Set, DatasetView> && Dataset<Set>)
      DatasetView(const Set& set)  // implicit, as a string_view is made of a string
      : set_(&set),
        size_(set.size()),
        sample_sizes_(set.sample_sizes()),
        read_([](const void* any, index_t i, float* sample) {
          return static_cast<const Set*>(any)->read(i, sample);
        }) {
    if constexpr (ByteDataset<Set>) {
      pixel_table_ = &set.pixel_table();
      read_bytes_ = [](const void* any, index_t i, std::uint8_t* sample) {
        return static_cast<const Set*>(any)->read_bytes(i, sample);
      };
    }
  }

  index_t size() const { return size_; }
  const Sizes& sample_sizes() const { return sample_sizes_; }
  label_t read(index_t i, float* sample) const { return read_(set_, i, sample); }
  // Only where there is a pixel_table().
  label_t read_bytes(index_t i, std::uint8_t* sample) const { return read_bytes_(set_, i, sample); }
  const PixelTable* pixel_table() const { return pixel_table_; }  // null if the set has no bytes

 private:
  const void* set_;
  index_t size_;
  Sizes sample_sizes_;
  label_t (*read_)(const void* set, index_t i, float* sample);
  const PixelTable* pixel_table_ = nullptr;
  label_t (*read_bytes_)(const void* set, index_t i, std::uint8_t* sample) = nullptr;
};

// The samples of a dataset as somebody takes them: as bytes if he does and the set has them, else as floats.
class SampleSource {
 public:
  SampleSource(const DatasetView& set, bool takes_bytes)
      : set_(set), pixels_(takes_bytes ? set.pixel_table() : nullptr) {}

  // What is to become of the bytes; null where they are floats.
  const PixelTable* pixels() const { return pixels_; }
  std::size_t sample_bytes() const {
    return static_cast<std::size_t>(set_.sample_sizes().numel()) * (pixels_ ? 1 : sizeof(float));
  }
  // Writes sample i; returns its label.
  label_t read(index_t i, void* sample) const {
    return pixels_ ? set_.read_bytes(i, static_cast<std::uint8_t*>(sample))
                   : set_.read(i, static_cast<float*>(sample));
  }

 private:
  DatasetView set_;
  const PixelTable* pixels_;
};

}  // namespace gpunet::data
