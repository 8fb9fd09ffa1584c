// Bodies of dataset.hpp.
#pragma once

#include <algorithm>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/data/dataset.hpp>

namespace gpunet::data {

GPUNET_INLINE label_t DatasetView::read(index_t i, float* sample) const {
  Random random = is_random_ ? any_random() : Random(0);
  return read(i, sample, random);
}

GPUNET_INLINE label_t DatasetView::copy(index_t i, const Sample& from, float* sample) const {
  constexpr std::string_view where = "gpunet::data: sample ";
  require(static_cast<index_t>(from.values.size()) == from.sizes.numel(), where, i, " has ", from.values.size(),
          " values for the shape ", to_string(from.sizes), " (want ", from.sizes.numel(), ")");
  require(from.sizes == sample_sizes_, where, i, " has the shape ", to_string(from.sizes), " and sample 0 ",
          to_string(sample_sizes_), " (a batch has one shape), bring all samples to one");
  std::copy(from.values.begin(), from.values.end(), sample);
  return from.label;
}

}  // namespace gpunet::data
