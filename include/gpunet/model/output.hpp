// What a model returns, and what a loss makes of it.
#pragma once

#include <type_traits>

#include <gpunet/core/tracked_pointer.hpp>
#include <gpunet/model/model_use.hpp>
#include <gpunet/nn/loss.hpp>
#include <gpunet/ops/classes.hpp>
#include <gpunet/ops/interleave.host.hpp>
#include <gpunet/ops/mean.host.hpp>
#include <gpunet/tensor/print.hpp>

namespace gpunet {

// The mean loss of a batch, on the model's device.
template <class M>
class LossValue {
 public:
  using value_type = typename M::value_type;
  using device_type = typename M::device_type;

  LossValue(M& model, std::uint64_t number) : model_(model), number_(number) {}

  // Adds the gradients of this loss to those of the parameters (after zero_grad(): replaces them).
  void backward() {
    const ModelUse::Exclusive use = model_->exclusive_use();
    require_fresh("backward");
    require(model_->keeps_activations_,
            "gpunet::LossValue::backward: this loss comes from a training step, which has run backward already");
    model_->backward();
  }

  // The number; waits for the device.
  value_type item() const {
    value_type value;
    read("item", [&](const value_type* at) { model_->device().download(&value, at, sizeof value); });
    return value;
  }

  // Runs f(where the number is on the device); throws Error if it is there no more. `what` is the caller's name.
  template <class F>
  void read(const char* what, F f) const {
    const ModelUse::Shared use = model_->shared_use();
    require_fresh(what);
    f(data());
  }

  // The number where it is, on the device. Valid until the model's next forward pass.
  const value_type* data() const { return model_->loss_.data(); }
  device_type& device() const { return model_->device(); }

 private:
  void require_fresh(const char* what) const {
    require(number_ == model_->losses_computed_, "gpunet::LossValue::", what,
            ": the model has run another batch or computed another loss since, call it before the next one");
  }

  TrackedPointer<M> model_;
  std::uint64_t number_;  // of all losses that the model has computed
};

// The output of a model for a batch. It lies in the model's memory until the next forward pass.
template <class M>
class Output {
 public:
  using value_type = typename M::value_type;
  using device_type = typename M::device_type;
  using T = value_type;
  using D = device_type;

  Output(M& model, std::uint64_t pass, index_t batch) : model_(model), pass_(pass), batch_(batch) {}

  // [batch, ...sizes of one output]
  Sizes sizes() const { return model_->net_.output().sizes().with_front(batch()); }
  index_t batch() const { return batch_; }
  index_t features() const { return model_->plan_.output_features; }
  D& device() const { return model_->device(); }

  // A copy as a tensor of its own, on the same device.
  Tensor<T, D> tensor() const {
    Tensor<T, D> copy(device(), sizes());
    each_slice([&](const Slice& slice, index_t first, const T* y) {
      deinterleave(device(), slice, features(), y, copy.data() + first * features());
    });
    return copy;
  }

  // What such a copy has: its numbers in row-major order, the only one, the class of the largest along a dimension, the
  // probabilities along it.
  std::vector<T> to_vector() const { return tensor().to_vector(); }
  T item() const { return tensor().item(); }
  Tensor<label_t, D> argmax(int dim) const { return gpunet::argmax(tensor(), dim); }
  Tensor<T, D> softmax(int dim) const { return gpunet::softmax(tensor(), dim); }

  // f(slice, index of its first sample, data in the slice's order) for every slice.
  template <class F>
  void each_slice(F f) const {
    const ModelUse::Shared use = model_->shared_use();
    require_fresh();
    const auto& slicing = model_->slicing_;
    for (index_t s = 0; s < slicing.slices(); ++s)
      f(slicing.slice(s), slicing.first_sample(s), model_->output_of(s));
  }

  // What criterion(output, targets) calls: the loss of every sample, its gradient, and the mean.
  template <class Loss, class Targets>
  LossValue<M> apply(const Loss& loss, const Targets& targets) const {
    using TargetView = View<const typename Loss::target_type, D>;
    static_assert(
        std::is_convertible_v<const Targets&, TargetView>,
        "gpunet::Model: the targets have another type than the loss wants (labels are Tensor<label_t, D>), or "
        "are on another kind of device than the model");
    const ModelUse::Exclusive use = model_->exclusive_use();
    require_fresh();
    const TargetView view = targets;
    model_->begin_loss(loss, view);
    for (index_t s = 0; s < model_->slicing_.slices(); ++s)
      model_->evaluate(loss, view, s, model_->output_of(s), model_->workspace_.at(s, 0));
    return model_->mean_loss();
  }

 private:
  void require_fresh() const {
    require(
        pass_ == model_->pass_,
        "gpunet::Output: the model has run another batch since this output was computed, use tensor() to keep it");
  }

  TrackedPointer<M> model_;
  std::uint64_t pass_;
  index_t batch_;
};

// std::cout << net(inputs)
template <class M>
std::ostream& operator<<(std::ostream& out, const Output<M>& output) {
  return out << output.tensor();
}

}  // namespace gpunet
