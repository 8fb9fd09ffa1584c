// Datasets of numbers that a program has already.
#pragma once

#include <algorithm>
#include <type_traits>

#include <gpunet/data/dataset.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet::data {

// The samples [n, ...] of one tensor with the labels [n] of another, which must outlive it:
//   data::TensorDataset set(X, y);
class TensorDataset {
 public:
  // Throws Error unless there are as many labels as samples.
  TensorDataset(const Tensor<float, Host>& samples, const Tensor<label_t, Host>& labels)
      : samples_(samples), labels_(labels) {
    constexpr std::string_view where = "gpunet::data::TensorDataset: ";
    require(samples.sizes().rank() >= 2, where, "samples of shape ", to_string(samples.sizes()),
            " (want [n, features...]), give the tensor a shape with the number of samples in front");
    require(labels.sizes().rank() == 1, where, "labels of shape ", to_string(labels.sizes()),
            " (want [n], a class for each sample)");
    require(samples.size(0) == labels.size(0), where, samples.size(0), " samples (shape ",
            to_string(samples.sizes()), ") and ", labels.size(0), " labels (want one for each sample)");
  }
  TensorDataset(const Tensor<float, Host>&&, const Tensor<label_t, Host>&) = delete;  // gone before they are read
  TensorDataset(const Tensor<float, Host>&, const Tensor<label_t, Host>&&) = delete;
  TensorDataset(const Tensor<float, Host>&&, const Tensor<label_t, Host>&&) = delete;

  // Anything else is a mistake.
  template <class Samples, class Labels>
  TensorDataset(const Samples&, const Labels&) {
    static_assert(std::is_void_v<Samples>,
                  "gpunet::data::TensorDataset: want samples as a Tensor<float, Host> and labels as a "
                  "Tensor<label_t, Host> (classes from 0), make tensors of these types");
  }

  index_t size() const { return labels_.numel(); }
  Sizes sample_sizes() const { return samples_.sizes().tail(); }
  label_t read(index_t i, float* sample) const {
    GPUNET_ASSERT(0 <= i && i < size());
    const index_t features = sample_sizes().numel();
    std::copy_n(samples_.data() + i * features, features, sample);
    return labels_.data()[i];
  }

 private:
  View<const float, Host> samples_;
  View<const label_t, Host> labels_;
};

}  // namespace gpunet::data
