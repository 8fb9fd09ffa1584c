// Bodies of kfold.hpp.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/data/kfold.hpp>
#include <gpunet/data/numpy_random.hpp>

namespace gpunet::data {

namespace detail {

GPUNET_INLINE void check_folds(std::string_view name, index_t n_splits,
                               const KFoldOptions& options) {
  require(n_splits >= 2, "gpunet::data::", name, ": ", n_splits,
          " folds (want 2 or more, one is tested and the others train)");
  require(
      options.shuffle || !options.random_state, "gpunet::data::", name,
      ": a random_state without shuffle (it has no effect), leave it out or set .shuffle = true");
}
GPUNET_INLINE void check_folds_of(std::string_view name, index_t n_splits, index_t n) {
  constexpr index_t most = index_t{1} << 32;
  require(n >= n_splits && n < most, "gpunet::data::", name, ": ", n_splits, " folds of ", n,
          " samples (want ", n_splits, " to ", most - 1,
          " samples, one or more for each fold), make fewer folds");
}

// Returns the samples of each fold and the others, of the number of the fold of each sample.
GPUNET_INLINE std::vector<TrainTestSplit> splits_of(const std::vector<index_t>& folds,
                                                    index_t n_splits) {
  std::vector<TrainTestSplit> splits(static_cast<std::size_t>(n_splits));
  for (std::size_t fold = 0; fold < splits.size(); ++fold)
    for (std::size_t i = 0; i < folds.size(); ++i)
      (folds[i] == static_cast<index_t>(fold) ? splits[fold].test : splits[fold].train)
          .push_back(static_cast<index_t>(i));
  return splits;
}

}  // namespace detail

GPUNET_INLINE KFold::KFold(index_t n_splits, const KFoldOptions& options)
    : n_splits_(n_splits), options_(options) {
  detail::check_folds("KFold", n_splits, options);
}

GPUNET_INLINE std::vector<TrainTestSplit> KFold::split(index_t n) const {
  detail::check_folds_of("KFold", n_splits_, n);
  std::vector<index_t> order(static_cast<std::size_t>(n)), folds(order.size());
  std::iota(order.begin(), order.end(), index_t{0});
  if (options_.shuffle) detail::NumpyRandomState(options_.random_state).shuffle(order);
  index_t at = 0;
  for (index_t fold = 0; fold < n_splits_; ++fold)
    for (index_t left = n / n_splits_ + (fold < n % n_splits_ ? 1 : 0); left > 0; --left)
      folds[static_cast<std::size_t>(order[static_cast<std::size_t>(at++)])] = fold;
  return detail::splits_of(folds, n_splits_);
}

GPUNET_INLINE StratifiedKFold::StratifiedKFold(index_t n_splits, const KFoldOptions& options)
    : n_splits_(n_splits), options_(options) {
  detail::check_folds("StratifiedKFold", n_splits, options);
}

GPUNET_INLINE std::vector<TrainTestSplit> StratifiedKFold::split(
    const std::vector<label_t>& labels) const {
  detail::check_folds_of("StratifiedKFold", n_splits_, std::ssize(labels));
  // The samples of each class. Classes are numbered by their first samples, as in scikit-learn.
  std::vector<std::vector<index_t>> classes;
  std::map<label_t, std::size_t> number;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto [found, is_new] = number.try_emplace(labels[i], classes.size());
    if (is_new) classes.emplace_back();
    classes[found->second].push_back(static_cast<index_t>(i));
  }
  for (const auto& [label, of] : number)
    require(std::ssize(classes[of]) >= n_splits_, "gpunet::data::StratifiedKFold: class ", label,
            " has ", classes[of].size(), " samples (want ", n_splits_,
            " or more, one for each fold), make fewer folds or leave out the class");
  // Fold f gets the samples f, f + k, f + 2 k, ... of all sorted by class; their classes are
  // counted.
  detail::NumpyRandomState random(options_.shuffle ? options_.random_state
                                                   : std::optional<std::uint32_t>(0));
  std::vector<index_t> folds(labels.size());
  index_t first = 0;
  for (const std::vector<index_t>& samples : classes) {
    std::vector<index_t> counts(static_cast<std::size_t>(n_splits_)), of_class;
    for (index_t i = 0; i < std::ssize(samples); ++i)
      ++counts[static_cast<std::size_t>((first + i) % n_splits_)];
    first += std::ssize(samples);
    for (index_t fold = 0; fold < n_splits_; ++fold)
      of_class.insert(of_class.end(),
                      static_cast<std::size_t>(counts[static_cast<std::size_t>(fold)]), fold);
    if (options_.shuffle) random.shuffle(of_class);
    for (std::size_t i = 0; i < samples.size(); ++i)
      folds[static_cast<std::size_t>(samples[i])] = of_class[i];
  }
  return detail::splits_of(folds, n_splits_);
}

}  // namespace gpunet::data
