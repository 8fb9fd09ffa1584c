// The folds of k-fold cross-validation, as scikit-learn.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <gpunet/data/train_test_split.hpp>

namespace gpunet::data {

// Options of KFold and StratifiedKFold, as in scikit-learn.
struct KFoldOptions {
  bool shuffle = false;
  // A seed; without it, drawn from the default generator.
  std::optional<std::uint32_t> random_state = std::nullopt;
};

// Cuts samples into k folds, each of which is the test set once, with the same indices as
// sklearn.model_selection.KFold:
//   const data::KFold folds(5, {.shuffle = true, .random_state = 0});
//   for (const auto& [train, test] : folds.split(set.size())) ...
// Without shuffle, a fold is a range of samples. The first folds have one sample more if k does not
// divide their number.
class KFold {
 public:
  // Throws Error unless n_splits is 2 or more, or for a random_state without shuffle, where it has
  // no effect.
  explicit KFold(index_t n_splits = 5, const KFoldOptions& options = {});

  index_t n_splits() const { return n_splits_; }
  // Returns the samples to train on and those to test with, in ascending order, for each fold of
  // samples 0 to n - 1. Throws Error for fewer samples than folds.
  std::vector<TrainTestSplit> split(index_t n) const;

 private:
  index_t n_splits_;
  KFoldOptions options_;
};

// The same with the fractions of the classes in each fold, as
// sklearn.model_selection.StratifiedKFold:
//   data::StratifiedKFold(5).split(data::labels_of(set))
class StratifiedKFold {
 public:
  // As KFold.
  explicit StratifiedKFold(index_t n_splits = 5, const KFoldOptions& options = {});

  index_t n_splits() const { return n_splits_; }
  // Returns the folds of samples with these classes. Throws Error for a class with fewer samples
  // than folds, of which scikit-learn only warns.
  std::vector<TrainTestSplit> split(const std::vector<label_t>& labels) const;

 private:
  index_t n_splits_;
  KFoldOptions options_;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/kfold.ipp>
#endif
