// A dataset of tensors.
#pragma once

#include <algorithm>
#include <concepts>
#include <type_traits>

#include <gpunet/data/dataset.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet::data {

namespace detail {

// The part of TensorDataset that does not depend on the type of the targets.
class SampleTensor {
 public:
  index_t size() const { return samples_.size(0); }
  Sizes sample_sizes() const { return samples_.sizes().tail(); }
  Sizes target_sizes() const { return target_sizes_; }

 protected:
  // `targets`: their shape. Throws Error for a wrong one.
  SampleTensor(const View<const float, Host>& samples, const Sizes& targets, bool labels);

  // Writes sample i. Throws Error if there is none.
  void read_sample(index_t i, float* sample) const;

 private:
  View<const float, Host> samples_;
  Sizes target_sizes_;
};

}  // namespace detail

// Samples [n, ...] and labels [n], or targets [n, ...], of two tensors, which must outlive it:
//   data::TensorDataset set(X, y);
template <class Target = label_t>
class TensorDataset : public detail::SampleTensor {
  static_assert(std::same_as<Target, label_t> || std::same_as<Target, float>,
                "gpunet::data::TensorDataset: want targets as a Tensor<label_t, Host> (classes from 0) or a "
                "Tensor<float, Host>, make a tensor of one of these types");

 public:
  // Throws Error for other shapes.
  TensorDataset(const Tensor<float, Host>& samples, const Tensor<Target, Host>& targets)
      : SampleTensor(samples, targets.sizes(), std::same_as<Target, label_t>), targets_(targets) {}
  TensorDataset(const Tensor<float, Host>&&,
                const Tensor<Target, Host>&) = delete;  // temporaries would be destroyed before they are read
  TensorDataset(const Tensor<float, Host>&, const Tensor<Target, Host>&&) = delete;
  TensorDataset(const Tensor<float, Host>&&, const Tensor<Target, Host>&&) = delete;

  // A compile error for other types.
  template <class Samples, class Targets>
  TensorDataset(const Samples&, const Targets&) : SampleTensor({}, {}, true) {
    static_assert(std::is_void_v<Samples>,
                  "gpunet::data::TensorDataset: want samples as a Tensor<float, Host>, and targets as a "
                  "Tensor<label_t, Host> (classes from 0) or a Tensor<float, Host>, make tensors of these types");
  }

  void read(index_t i, float* sample, Target* target) const {
    read_sample(i, sample);
    const index_t numbers = target_sizes().numel();
    std::copy_n(targets_.data() + i * numbers, numbers, target);
  }

 private:
  View<const Target, Host> targets_;
};

// Gives the compiler one clear error for another number of arguments.
template <gpunet::detail::Wrong Target>
class TensorDataset<Target> : public gpunet::detail::AnyArguments {
  static_assert(gpunet::detail::never<Target>,
                "gpunet::data::TensorDataset: the arguments are a tensor of samples and one of targets, write "
                "data::TensorDataset set(X, y)");

 public:
  using AnyArguments::AnyArguments;
};
TensorDataset(...)->TensorDataset<gpunet::detail::WrongArguments>;

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/tensor_dataset.ipp>
#endif
