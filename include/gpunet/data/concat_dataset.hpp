// Datasets one after another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
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
  explicit ConcatDataset(std::vector<DatasetView> sets) : sets_(std::move(sets)) {
    constexpr std::string_view where = "gpunet::data::ConcatDataset: ";
    require(!sets_.empty(), where, "no datasets (want one or more)");
    for (const DatasetView& set : sets_) {
      require(set.sample_sizes() == sample_sizes(), where, "the samples of dataset ", ends_.size(), " have shape ",
              to_string(set.sample_sizes()), ", those of dataset 0 ", to_string(sample_sizes()),
              " (a batch has one shape), bring them to one, by Resize for images");
      require(set.size() <= std::numeric_limits<index_t>::max() - size(), where, "the datasets have ", size(),
              " and ", set.size(), " samples (want 2^63 or fewer in all), check their size()");
      ends_.push_back(size() + set.size());
    }
  }

  index_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  const Sizes& sample_sizes() const { return sets_.front().sample_sizes(); }
  label_t read(index_t i, float* sample) const {
    const std::size_t set = set_of(i);
    return sets_[set].read(i - begin(set), sample);
  }
  label_t read(index_t i, float* sample, Random& random) const {
    const std::size_t set = set_of(i);
    return sets_[set].read(i - begin(set), sample, random);
  }
  bool is_random() const {
    return std::ranges::any_of(sets_, [](const DatasetView& set) { return set.is_random(); });
  }

 private:
  std::size_t set_of(index_t i) const {
    GPUNET_ASSERT(0 <= i && i < size());
    return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin());
  }
  index_t begin(std::size_t set) const { return set == 0 ? 0 : ends_[set - 1]; }

  std::vector<DatasetView> sets_;
  std::vector<index_t> ends_;  // the index behind the last sample of each
};

}  // namespace gpunet::data
