// Bodies of concat_dataset.hpp.
#pragma once

#include <algorithm>
#include <limits>
#include <string_view>

#include <gpunet/data/concat_dataset.hpp>

namespace gpunet::data {

GPUNET_INLINE detail::JoinedDatasets::JoinedDatasets(std::vector<DatasetView> sets, bool labels)
    : sets_(std::move(sets)) {
  constexpr std::string_view where = "gpunet::data::ConcatDataset: ";
  require(!sets_.empty(), where, "no datasets (want one or more)");
  sample_sizes_ = sets_.front().sample_sizes();
  target_sizes_ = sets_.front().target_sizes();
  for (const DatasetView& set : sets_) {
    require(set.size() >= 0, where, "dataset ", ends_.size(), " has ", set.size(),
            " samples (want 0 or more), check its size()");
    require(set.has_labels() == labels, where, "the targets of dataset ", ends_.size(), " are of ",
            set.has_labels() ? "label_t" : "float", " (want ", labels ? "label_t" : "float",
            "), concatenate datasets with targets of one type, of a vector or a mixed list by "
            "ConcatDataset<float>(sets)");
    if (size() == 0 && set.size() > 0) {
      sample_sizes_ = set.sample_sizes();
      target_sizes_ = set.target_sizes();
    }
    require(set.size() == 0 || set.sample_sizes() == sample_sizes(), where,
            "the samples of dataset ", ends_.size(), " have shape ", to_string(set.sample_sizes()),
            ", those before it ", to_string(sample_sizes()),
            " (a batch has one shape), bring them to one, by Resize for images");
    require(set.size() == 0 || set.target_sizes() == target_sizes(), where,
            "the targets of dataset ", ends_.size(), " have shape ", to_string(set.target_sizes()),
            ", those before it ", to_string(target_sizes()),
            " (a batch has one shape), bring them to one");
    require(set.size() <= std::numeric_limits<index_t>::max() - size(), where, "the datasets have ",
            size(), " and ", set.size(),
            " samples (want 2^63 or fewer in all), check their size()");
    ends_.push_back(size() + set.size());
  }
}

GPUNET_INLINE bool detail::JoinedDatasets::is_random() const {
  return std::ranges::any_of(sets_, [](const DatasetView& set) { return set.is_random(); });
}

GPUNET_INLINE detail::JoinedDatasets::Place detail::JoinedDatasets::place(index_t i) const {
  check_sample(i, size());
  const auto set =
      static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin());
  return {sets_[set], set == 0 ? i : i - ends_[set - 1]};
}

}  // namespace gpunet::data
