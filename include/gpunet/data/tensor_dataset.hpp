// A dataset of tensors.
#pragma once

#include <type_traits>

#include <gpunet/data/dataset.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet::data {

// Samples [n, ...] and labels [n] of two tensors, which must outlive it:
//   data::TensorDataset set(X, y);
class TensorDataset {
 public:
  // Throws Error for other shapes.
  TensorDataset(const Tensor<float, Host>& samples, const Tensor<label_t, Host>& labels);
  TensorDataset(const Tensor<float, Host>&&,
                const Tensor<label_t, Host>&) = delete;  // temporaries would be destroyed before they are read
  TensorDataset(const Tensor<float, Host>&, const Tensor<label_t, Host>&&) = delete;
  TensorDataset(const Tensor<float, Host>&&, const Tensor<label_t, Host>&&) = delete;

  // A compile error for other types.
  template <class Samples, class Labels>
  TensorDataset(const Samples&, const Labels&) {
    static_assert(std::is_void_v<Samples>,
                  "gpunet::data::TensorDataset: want samples as a Tensor<float, Host> and labels as a "
                  "Tensor<label_t, Host> (classes from 0), make tensors of these types");
  }

  index_t size() const { return labels_.numel(); }
  Sizes sample_sizes() const { return samples_.sizes().tail(); }
  label_t read(index_t i, float* sample) const;

 private:
  View<const float, Host> samples_;
  View<const label_t, Host> labels_;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/tensor_dataset.ipp>
#endif
