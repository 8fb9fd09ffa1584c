// What a dataset is.
#pragma once

#include <concepts>

#include <gpunet/core/sizes.hpp>

namespace gpunet::data {

// Labelled samples, all of one shape. A const set may be read by several threads at once.
template <class Set>
concept Dataset = requires(const Set& set, index_t i, float* sample) {
  { set.size() } -> std::same_as<index_t>;           // how many samples
  { set.sample_sizes() } -> std::same_as<Sizes>;     // the shape of one, e.g. [3, 32, 32]
  { set.read(i, sample) } -> std::same_as<label_t>;  // writes sample i < size(), row-major; returns its label
};

}  // namespace gpunet::data
