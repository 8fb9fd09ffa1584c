// Bodies of tensor_dataset.hpp.
#pragma once

#include <algorithm>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/data/tensor_dataset.hpp>

namespace gpunet::data {

GPUNET_INLINE TensorDataset::TensorDataset(const Tensor<float, Host>& samples, const Tensor<label_t, Host>& labels)
    : samples_(samples), labels_(labels) {
  constexpr std::string_view where = "gpunet::data::TensorDataset: ";
  require(samples.sizes().rank() >= 2, where, "samples of shape ", to_string(samples.sizes()),
          " (want [n, features...]), give the tensor a shape with the number of samples in front");
  require(labels.sizes().rank() == 1, where, "labels of shape ", to_string(labels.sizes()),
          " (want [n], a class for each sample)");
  require(samples.size(0) == labels.size(0), where, samples.size(0), " samples (shape ", to_string(samples.sizes()),
          ") and ", labels.size(0), " labels (want one for each sample)");
}

GPUNET_INLINE label_t TensorDataset::read(index_t i, float* sample) const {
  detail::check_sample(i, size());
  const index_t features = sample_sizes().numel();
  std::copy_n(samples_.data() + i * features, features, sample);
  return labels_.data()[i];
}

}  // namespace gpunet::data
