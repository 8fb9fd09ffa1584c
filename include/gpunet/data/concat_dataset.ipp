// Bodies of concat_dataset.hpp.
#pragma once

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include <gpunet/data/concat_dataset.hpp>

namespace gpunet::data {

GPUNET_INLINE ConcatDataset::ConcatDataset(std::vector<DatasetView> sets) : sets_(std::move(sets)) {
  constexpr std::string_view where = "gpunet::data::ConcatDataset: ";
  require(!sets_.empty(), where, "no datasets (want one or more)");
  sample_sizes_ = sets_.front().sample_sizes();
  for (const DatasetView& set : sets_) {
    require(set.size() >= 0, where, "dataset ", ends_.size(), " has ", set.size(),
            " samples (want 0 or more), check its size()");
    if (size() == 0 && set.size() > 0) sample_sizes_ = set.sample_sizes();
    require(set.size() == 0 || set.sample_sizes() == sample_sizes(), where, "the samples of dataset ", ends_.size(),
            " have shape ", to_string(set.sample_sizes()), ", those before it ", to_string(sample_sizes()),
            " (a batch has one shape), bring them to one, by Resize for images");
    require(set.size() <= std::numeric_limits<index_t>::max() - size(), where, "the datasets have ", size(),
            " and ", set.size(), " samples (want 2^63 or fewer in all), check their size()");
    ends_.push_back(size() + set.size());
  }
}

GPUNET_INLINE label_t ConcatDataset::read(index_t i, float* sample) const {
  const std::size_t set = set_of(i);
  return sets_[set].read(i - begin(set), sample);
}
GPUNET_INLINE label_t ConcatDataset::read(index_t i, float* sample, Random& random) const {
  const std::size_t set = set_of(i);
  return sets_[set].read(i - begin(set), sample, random);
}
GPUNET_INLINE bool ConcatDataset::is_random() const {
  return std::ranges::any_of(sets_, [](const DatasetView& set) { return set.is_random(); });
}

GPUNET_INLINE std::size_t ConcatDataset::set_of(index_t i) const {
  detail::check_sample(i, size());
  return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin());
}

}  // namespace gpunet::data
