// What a dataset is.
#pragma once

#include <concepts>

#include <gpunet/core/sizes.hpp>

namespace gpunet::data {

// Labelled samples, all of one shape. A const set may be read by several threads at once.
template <class Set>
concept Dataset = requires(const Set& set, index_t i, float* sample) {
  { set.size() } -> std::same_as<index_t>;               // how many samples
  { set.sample_sizes() } -> std::convertible_to<Sizes>;  // the shape of one, e.g. [3, 32, 32]
  { set.read(i, sample) } -> std::same_as<label_t>;      // writes sample i < size(), row-major; returns its label
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
        }) {}

  index_t size() const { return size_; }
  const Sizes& sample_sizes() const { return sample_sizes_; }
  label_t read(index_t i, float* sample) const { return read_(set_, i, sample); }

 private:
  const void* set_;
  index_t size_;
  Sizes sample_sizes_;
  label_t (*read_)(const void* set, index_t i, float* sample);
};

}  // namespace gpunet::data
