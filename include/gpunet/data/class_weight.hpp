// The labels of a dataset, and weights of classes by their numbers of samples.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <gpunet/data/dataset.hpp>
#include <gpunet/data/subset.hpp>

namespace gpunet::data {

// Returns the label of every sample. Images of an ImageFolder are not read for it; datasets that
// make a sample and its label in one call make all samples. Throws Error for a dataset whose
// targets are not labels.
template <class Set>
std::vector<label_t> labels_of(const Set& set) {
  (void)detail::RequireDataset<Set>{};
  std::vector<label_t> labels(static_cast<std::size_t>(set.size()));
  const auto each = [&](auto label) {
    for (std::size_t i = 0; i < labels.size(); ++i)
      labels[i] = label(static_cast<index_t>(i));
  };
  std::vector<std::uint8_t> bytes;
  if constexpr (requires { set.samples()[0].label; }) {
    each([&](index_t i) { return set.samples()[static_cast<std::size_t>(i)].label; });
  } else if constexpr (requires { set.image(0, bytes).label; }) {
    each([&](index_t i) { return set.image(i, bytes).label; });
  } else {
    const DatasetView view(std::cref(set));
    std::vector<float> sample(static_cast<std::size_t>(view.sample_sizes().numel()));
    each([&](index_t i) { return view.read(i, sample.data()); });
  }
  return labels;
}
template <class Set>
std::vector<label_t> labels_of(const Subset<Set>& subset) {
  const std::vector<label_t> all = labels_of(subset.dataset());
  std::vector<label_t> labels;
  for (const index_t i : subset.indices())
    labels.push_back(all[static_cast<std::size_t>(i)]);
  return labels;
}

// Returns a weight for each class 0 to classes - 1 that makes all classes count alike, the number
// of samples / (classes * that of the class), as sklearn's compute_class_weight("balanced"):
//   const auto weight = data::compute_class_weight(data::labels_of(set), 10);
//   nn::CrossEntropyLoss criterion({.weight = weight});
// Labels equal to `ignore_index`, which the loss leaves out, do not count. Throws Error for another
// label that is not a class, or a class without samples.
std::vector<double> compute_class_weight(const std::vector<label_t>& labels, index_t classes,
                                         std::optional<index_t> ignore_index = {});

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/class_weight.ipp>
#endif
