// Datasets one after another.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include <gpunet/data/dataset.hpp>

namespace gpunet::data {

// The samples of several datasets, of any types, which must outlive it; one dataset:
//   data::ConcatDataset all(photographs, drawings);
class ConcatDataset {
 public:
  // Throws Error unless the samples of all have one shape.
  template <class... Sets>
  requires(sizeof...(Sets) >= 2 &&
           ((std::is_lvalue_reference_v<Sets> &&  // others would be gone before they are read
             AnyDataset<std::remove_cvref_t<Sets>>)&&...)) explicit ConcatDataset(Sets&&... sets)
      : ConcatDataset(std::vector<DatasetView>{DatasetView(sets)...}) {}
  explicit ConcatDataset(std::vector<DatasetView> sets);

  index_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  const Sizes& sample_sizes() const { return sets_.front().sample_sizes(); }
  label_t read(index_t i, float* sample) const;
  label_t read(index_t i, float* sample, Random& random) const;
  bool is_random() const;

 private:
  std::size_t set_of(index_t i) const;
  index_t begin(std::size_t set) const { return set == 0 ? 0 : ends_[set - 1]; }

  std::vector<DatasetView> sets_;
  std::vector<index_t> ends_;  // the index behind the last sample of each
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/concat_dataset.ipp>
#endif
