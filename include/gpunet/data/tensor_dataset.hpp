// A dataset of tensors.
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include <gpunet/core/lifetime.hpp>
#include <gpunet/data/dataset.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet::data {

namespace detail {

[[noreturn]] void refuse_lifetime();

// A tensor of a dataset: a temporary itself, which copies share; else the borrowed memory of a
// tensor, which may be moved.
template <class T>
class DatasetTensor {
 public:
  DatasetTensor(const Tensor<T, Host>& tensor)
      : data_(tensor.data()),
        sizes_(tensor.sizes()),
        lifetime_(gpunet::detail::TensorAccess::lifetime(tensor)) {}
  DatasetTensor(Tensor<T, Host>&& tensor)
      : DatasetTensor(std::make_shared<const Tensor<T, Host>>(std::move(tensor))) {}
  DatasetTensor(const Tensor<T, Host>&& tensor) : DatasetTensor(tensor.clone()) {}
  DatasetTensor(const DatasetTensor&) = default;  // moves copy
  DatasetTensor& operator=(const DatasetTensor&) = default;

  const Sizes& sizes() const { return sizes_; }
  // Throws Error if the tensor no longer exists.
  const T* data() const {
    if (lifetime_.is_over()) [[unlikely]]
      refuse_lifetime();
    return data_;
  }

 private:
  explicit DatasetTensor(const std::shared_ptr<const Tensor<T, Host>>& own) : DatasetTensor(*own) {
    own_ = own;
  }

  const T* data_;
  Sizes sizes_;
  gpunet::detail::BorrowedLifetime lifetime_;
  std::shared_ptr<const Tensor<T, Host>> own_;
};

// The part of TensorDataset that does not depend on the type of the targets.
class SampleTensor {
 public:
  index_t size() const { return samples_.sizes()[0]; }
  Sizes sample_sizes() const { return samples_.sizes().tail(); }
  Sizes target_sizes() const { return target_sizes_; }

 protected:
  // `targets`: their shape. Throws Error for a wrong one.
  SampleTensor(DatasetTensor<float> samples, const Sizes& targets, bool labels);

  // Writes sample i. Throws Error if there is none.
  void read_sample(index_t i, float* sample) const;

 private:
  DatasetTensor<float> samples_;
  Sizes target_sizes_;
};

}  // namespace detail

// Samples [n, ...] and labels [n], or targets [n, ...], of two tensors:
//   data::TensorDataset set(std::move(X), std::move(y));
// It has the tensors then, and shares them with its copies, parts and loaders. Without std::move it
// borrows their memory, which must exist when samples are read (Error); the tensors themselves may
// be moved.
template <class Target = label_t>
class TensorDataset : public detail::SampleTensor {
  static_assert(
      std::same_as<Target, label_t> || std::same_as<Target, float>,
      "gpunet::data::TensorDataset: want targets as a Tensor<label_t, Host> (classes from 0) or a "
      "Tensor<float, Host>, make a tensor of one of these types");

 public:
  // Throws Error for other shapes.
  TensorDataset(detail::DatasetTensor<float> samples, detail::DatasetTensor<Target> targets)
      : SampleTensor(samples, targets.sizes(), std::same_as<Target, label_t>), targets_(targets) {}

  // A compile error for other types.
  template <class Samples, class Targets>
  requires(!std::is_convertible_v<Samples, detail::DatasetTensor<float>> ||
           !std::is_convertible_v<Targets, detail::DatasetTensor<Target>>)
      TensorDataset(const Samples&, const Targets&)
      : TensorDataset(Tensor<float, Host>(), Tensor<Target, Host>()) {
    static_assert(
        std::is_void_v<Samples>,
        "gpunet::data::TensorDataset: want samples as a Tensor<float, Host>, and targets as a "
        "Tensor<label_t, Host> (classes from 0) or a Tensor<float, Host>, make tensors of these "
        "types");
  }

  void read(index_t i, float* sample, Target* target) const {
    read_sample(i, sample);
    const index_t numbers = target_sizes().numel();
    std::copy_n(targets_.data() + i * numbers, numbers, target);
  }

 private:
  detail::DatasetTensor<Target> targets_;
};

template <class Target>
TensorDataset(const Tensor<float, Host>&, const Tensor<Target, Host>&) -> TensorDataset<Target>;

// Gives the compiler one clear error for another number of arguments.
template <gpunet::detail::Wrong Target>
class TensorDataset<Target> : public gpunet::detail::AnyArguments {
  static_assert(gpunet::detail::never<Target>,
                "gpunet::data::TensorDataset: the arguments are a tensor of samples and one of "
                "targets, write data::TensorDataset set(X, y)");

 public:
  using AnyArguments::AnyArguments;
};
TensorDataset(...)->TensorDataset<gpunet::detail::WrongArguments>;

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/tensor_dataset.ipp>
#endif
