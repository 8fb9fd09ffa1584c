// Concatenated datasets.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/data/dataset.hpp>

namespace gpunet::data {

namespace detail {

// The part of ConcatDataset that does not depend on the type of the targets.
class JoinedDatasets {
 public:
  index_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  const Sizes& sample_sizes() const { return sample_sizes_; }
  const Sizes& target_sizes() const { return target_sizes_; }
  bool is_random() const;

 protected:
  // `labels`: whether targets are of label_t.
  JoinedDatasets(std::vector<DatasetView> sets, bool labels);

  // A sample of one of the datasets.
  struct Place {
    const DatasetView& set;
    index_t i;
  };
  // Returns where sample i is. Throws Error if there is none.
  Place place(index_t i) const;

 private:
  std::vector<DatasetView> sets_;
  Sizes sample_sizes_, target_sizes_;  // of the first dataset that has samples
  std::vector<index_t> ends_;          // of each: the index after its last sample
};

}  // namespace detail

// The samples of several datasets of any types, one dataset after another. It has the datasets as a
// Subset has its own.
//   data::ConcatDataset all(photographs, drawings);
template <class Target = label_t>
class ConcatDataset : public detail::JoinedDatasets {
 public:
  // Throws Error unless all samples have the same shape, and all targets. Datasets without samples
  // may have any shape.
  template <class... Sets>
  requires(sizeof...(Sets) >= 2) explicit ConcatDataset(Sets&&... sets)
      : ConcatDataset(std::vector<DatasetView>{DatasetView(std::forward<Sets>(sets))...}) {}
  // As a list: ConcatDataset all({photographs, drawings}).
  explicit ConcatDataset(std::initializer_list<DatasetView> sets)
      : ConcatDataset(std::vector<DatasetView>(sets)) {}
  explicit ConcatDataset(std::vector<DatasetView> sets)
      : JoinedDatasets(std::move(sets), std::same_as<Target, label_t>) {}

  void read(index_t i, float* sample, Target* target) const {
    const Place at = place(i);
    at.set.read(at.i, sample, target);
  }
  void read(index_t i, float* sample, Target* target, Random& random) const {
    const Place at = place(i);
    at.set.read(at.i, sample, target, random);
  }
};

template <class First, class... Sets>
ConcatDataset(First&&, Sets&&...) -> ConcatDataset<TargetOf<First>>;
ConcatDataset(std::vector<DatasetView>)->ConcatDataset<label_t>;
ConcatDataset(std::initializer_list<DatasetView>)->ConcatDataset<label_t>;
template <class Set>
ConcatDataset(std::initializer_list<Set>) -> ConcatDataset<TargetOf<Set>>;

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/concat_dataset.ipp>
#endif
