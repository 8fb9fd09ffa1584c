// Bodies of tensor_dataset.hpp.
#pragma once

#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/data/tensor_dataset.hpp>

namespace gpunet::data {

GPUNET_INLINE void detail::refuse_lifetime() {
  throw_error(
      Error("gpunet::data::TensorDataset: a tensor of the dataset no longer exists (its memory is "
            "gone), keep it as long as the dataset and its loaders, or move it there: "
            "TensorDataset set(std::move(X), std::move(y))"));
}

GPUNET_INLINE detail::SampleTensor::SampleTensor(DatasetTensor<float> samples, const Sizes& targets,
                                                 bool labels)
    : samples_(samples), target_sizes_(targets.tail()) {
  constexpr std::string_view where = "gpunet::data::TensorDataset: ";
  require(samples.sizes().rank() >= 2, where, "samples of shape ", to_string(samples.sizes()),
          " (want [n, features...]), give the tensor a shape with the number of samples in front");
  require(targets.rank() >= 1, where, "targets of shape ", to_string(targets),
          " (want [n, ...]), give the tensor a shape with the number of samples in front");
  require(!labels || targets.rank() == 1 || target_sizes_.numel() != 1, where, "labels of shape ",
          to_string(targets), " (want [n], a class for each sample)");
  require(samples.sizes()[0] == targets[0], where, samples.sizes()[0], " samples (shape ",
          to_string(samples.sizes()), ") and ", targets[0], labels ? " labels" : " targets",
          " (want one for each sample)");
}

GPUNET_INLINE void detail::SampleTensor::read_sample(index_t i, float* sample) const {
  check_sample(i, size());
  const index_t features = sample_sizes().numel();
  std::copy_n(samples_.data() + i * features, features, sample);
}

}  // namespace gpunet::data
