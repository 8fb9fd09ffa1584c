// Bodies of dataset.hpp.
#pragma once

#include <gpunet/core/error.hpp>
#include <gpunet/data/dataset.hpp>

namespace gpunet::data {

GPUNET_INLINE void DatasetView::read(index_t i, float* sample, void* target) const {
  Random random = is_random_ ? any_random() : Random(0);
  read(i, sample, target, random);
}

GPUNET_INLINE label_t DatasetView::read(index_t i, float* sample) const {
  require(has_labels_ && target_sizes_.numel() == 1,
          "gpunet::data: the targets of the dataset are of ", has_labels_ ? "label_t" : "float",
          " and shape ", to_string(target_sizes_),
          " (want a label for each sample), take a dataset with labels, or a Subset of the dataset "
          "itself instead of a DatasetView of it");
  label_t label = 0;
  read(i, sample, &label);
  return label;
}

GPUNET_INLINE void DatasetView::copy(index_t i, const Sample& from, float* sample,
                                     label_t* label) const {
  copy_numbers("sample ", i, from.values, from.sizes, sample_sizes_, sample);
  *label = from.label;
}

GPUNET_INLINE void DatasetView::check_sizes(std::string_view what, index_t i, index_t count,
                                            const Sizes& sizes, const Sizes& first) {
  require(count == sizes.numel(), "gpunet::data: ", what, i, " has ", count,
          " values for the shape ", to_string(sizes), " (want ", sizes.numel(), ")");
  require(sizes == first, "gpunet::data: ", what, i, " has the shape ", to_string(sizes),
          " and sample 0 ", to_string(first), " (a batch has one shape), bring all samples to one");
}

}  // namespace gpunet::data
