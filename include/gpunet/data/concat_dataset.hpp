// Concatenated datasets.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include <gpunet/data/dataset.hpp>

namespace gpunet::data {

// The samples of several datasets of any types, one dataset after another. The datasets must outlive it.
//   data::ConcatDataset all(photographs, drawings);
class ConcatDataset {
 public:
  // Throws Error unless all samples have the same shape. Datasets without samples may have any shape.
  template <class... Sets>
  requires(sizeof...(Sets) >= 2 &&
           (std::is_lvalue_reference_v<Sets> && ...))  // temporaries would be destroyed before they are read
      explicit ConcatDataset(Sets&&... sets)
      : ConcatDataset(std::vector<DatasetView>{DatasetView(sets)...}) {}
  explicit ConcatDataset(std::vector<DatasetView> sets);

  index_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  const Sizes& sample_sizes() const { return sample_sizes_; }
  label_t read(index_t i, float* sample) const;
  label_t read(index_t i, float* sample, Random& random) const;
  bool is_random() const;

 private:
  std::size_t set_of(index_t i) const;
  index_t begin(std::size_t set) const { return set == 0 ? 0 : ends_[set - 1]; }

  std::vector<DatasetView> sets_;
  Sizes sample_sizes_;         // of the first dataset that has samples
  std::vector<index_t> ends_;  // of each: the index after its last sample
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/concat_dataset.ipp>
#endif
