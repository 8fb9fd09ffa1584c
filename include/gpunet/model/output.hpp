// The results of a model: outputs and losses.
#pragma once

#include <type_traits>
#include <utility>

#include <gpunet/core/tracked_pointer.hpp>
#include <gpunet/model/model_use.hpp>
#include <gpunet/nn/loss.hpp>
#include <gpunet/nn/output_loss.hpp>
#include <gpunet/ops/convert.hpp>
#include <gpunet/tensor/print.hpp>
#include <gpunet/tensor/tensor_like.hpp>

namespace gpunet {

template <class D, class T>
class Network;

namespace nn::detail {

// The type of the numbers of an array; void for something else.
template <class Array>
struct NumberOf {
  using type = void;
};
template <class Array>
requires requires(const Array& array) {
  *array.data();
}
struct NumberOf<Array> {
  using type = std::remove_cvref_t<decltype(*std::declval<const Array&>().data())>;
};

// Compile errors for targets that are not of type Target on device D.
template <class Targets, class Target, class D>
struct RequireTargets {
  using Number = typename NumberOf<Targets>::type;
  static constexpr bool wants_labels = std::is_integral_v<Target>;
  static constexpr bool floats_for_labels = wants_labels && std::is_floating_point_v<Number>;
  static constexpr bool labels_for_floats = !wants_labels && std::is_integral_v<Number>;
  static_assert(!floats_for_labels,
                "gpunet::Model: the loss takes labels and the targets are floats, give a "
                "Tensor<label_t, D> of classes from 0; floats are for losses such as MSELoss, "
                "probabilities of the classes for SoftCrossEntropyLoss");
  static_assert(!labels_for_floats,
                "gpunet::Model: the loss takes numbers of the network's type and the targets are "
                "integers, give a Tensor<float, D> of the shape of the outputs; labels are for "
                "CrossEntropyLoss and NLLLoss");
  static_assert(floats_for_labels || labels_for_floats ||
                    std::is_convertible_v<const Targets&, View<const Target, D>>,
                "gpunet::Model: the targets have another type than the loss wants (labels are "
                "Tensor<label_t, D>), or are on another kind of device than the model");
};

}  // namespace nn::detail

// The loss of a batch, on the model's device.
template <class D, class T = float>
class LossValue {
 public:
  using value_type = T;
  using device_type = D;

  LossValue(Network<D, T>& network, std::uint64_t number) : network_(network), number_(number) {}

  // Adds the gradients of this loss, multiplied by `gradient`, to the parameters' (after
  // zero_grad(): replaces them): loss.backward(1.0 / 4) is PyTorch's (loss / 4).backward(). Throws
  // Error the second time.
  void backward(double gradient = 1) const {
    run_backward(static_cast<T>(gradient));
    if (!network_->has_hooks()) return;
    const ModelUse::Exclusive use = network_->exclusive_use();
    network_->run_backward_hooks();
  }

  // Returns the loss; waits for the device. Throws Error if the loss is stale.
  T item() const {
    T value;
    read("item", [&](const T* at) { network_->device().download(&value, at, sizeof value); });
    return value;
  }

  // Calls f(address of the loss on the device). Throws Error if the loss is stale; `what` is the
  // caller's name.
  template <class F>
  void read(const char* what, F f) const {
    const ModelUse::Shared use = network_->shared_use();
    require_fresh(what);
    f(data());
  }

  // Returns the address of the loss on the device. Valid until the model's next forward pass.
  const T* data() const { return network_->loss_.value(); }
  D& device() const { return network_->device(); }
  // Returns how the model stores activations: see Network::autocast.
  Storage storage() const { return network_->storage(); }
  // Returns whether it is the sum over the batch, not the mean.
  bool is_sum() const { return network_->loss_.is_sum(); }

 private:
  void run_backward(T gradient) const {
    const ModelUse::Exclusive use = network_->exclusive_use();
    require_fresh("backward");
    require(network_->keeps_activations_,
            "gpunet::LossValue::backward: this loss comes from a training step, which has run "
            "backward already");
    require(network_->updates_at_pass_ == network_->arena_->updates,
            "gpunet::LossValue::backward: the parameters have changed since this loss was computed "
            "(an optimizer's step, io::load, requires_grad or autocast; its activations belong to "
            "the old ones), run the model on the batch again");
    require(network_->last_backward_ != number_,
            "gpunet::LossValue::backward: trying to backward through the graph a second time (this "
            "would add the same gradients again), run the model on the batch again and compute the "
            "loss");
    network_->backward(gradient);
    network_->last_backward_ = number_;
  }

  void require_fresh(const char* what) const {
    require(number_ == network_->loss_.number(), "gpunet::LossValue::", what,
            ": the model has run another batch or computed another loss since, call it before the "
            "next one");
  }

  TrackedPointer<Network<D, T>> network_;
  std::uint64_t number_;  // counts losses of the model
};

// The output of a model for a batch, in the model's memory until its next forward pass.
template <class D, class T = float>
class Output {
 public:
  using value_type = T;
  using device_type = D;

  Output(Network<D, T>& network, std::uint64_t pass, index_t batch)
      : network_(network), pass_(pass), batch_(batch) {}

  // [batch, ...sizes of one output]
  Sizes sizes() const { return network_->output_sizes().with_front(batch()); }
  index_t batch() const { return batch_; }
  index_t features() const { return network_->plan_.output_features; }
  D& device() const { return network_->device(); }

  // Returns a copy, on the same device. Throws Error if the output is stale.
  Tensor<T, D> tensor() const;
  operator Tensor<T, D>() const { return tensor(); }

  // Returns a copy of output i of a network with several. Throws Error if there is none, or the
  // output is stale.
  Tensor<T, D> operator[](std::size_t i) const;

  // As of a Tensor: elements in row-major order, the only element, index of the maximum and softmax
  // along a dimension.
  std::vector<T> to_vector() const { return tensor().to_vector(); }
  T item() const { return tensor().item(); }
  Tensor<label_t, D> argmax(int dim) const;
  Tensor<T, D> softmax(int dim) const;

  // f(slice, index of its first sample, data in the slice's order) for every slice.
  template <class F>
  void each_slice(F f) const {
    const ModelUse::Shared use = network_->shared_use();
    require_fresh();
    const auto& slicing = network_->slicing_;
    for (index_t s = 0; s < slicing.slices(); ++s)
      f(slicing.slice(s), slicing.first_sample(s), network_->output_of(s));
  }

  // The function of criterion(output, targets): the loss of every sample, its gradient, and the
  // mean.
  template <class Loss, class Targets>
  LossValue<D, T> apply(const Loss& loss, const Targets& targets) const {
    using Target = nn::TargetOf<Loss, D, T>;
    (void)nn::detail::RequireTargets<Targets, Target, D>{};
    const ModelUse::Exclusive use = network_->exclusive_use();
    require_fresh();
    const View<const Target, D> view = targets;
    return network_->apply({loss, view});
  }

  // The function of criterion.each(output, targets): the losses before the reduction.
  template <class Loss, class Targets>
  Tensor<T, D> each(const Loss& loss, const Targets& targets) const {
    using Target = nn::TargetOf<Loss, D, T>;
    (void)nn::detail::RequireTargets<Targets, Target, D>{};
    const Tensor<T, D> outputs = tensor();
    const ModelUse::Exclusive use = network_->exclusive_use();
    const View<const Target, D> view = targets;
    return network_->loss_.each(outputs, {loss, view});
  }

 private:
  void require_one(const char* what) const;
  void require_fresh() const {
    require(pass_ == network_->pass_,
            "gpunet::Output: the model has run another batch since this output was computed (or "
            "autocast), use tensor() to keep it");
  }

  TrackedPointer<Network<D, T>> network_;
  std::uint64_t pass_;
  index_t batch_;
};

// An output whose Shape is known at compile time: a loss for other shapes does not compile.
template <class S, class D, class T>
class ShapedOutput : public Output<D, T> {
 public:
  explicit ShapedOutput(const Output<D, T>& output) : Output<D, T>(output) {}

  // Computes the loss, for criterion(output, targets).
  template <class Loss, class Targets>
  LossValue<D, T> apply(const Loss& loss, const Targets& targets) const {
    nn::detail::check_loss_shape<Loss>(S{});
    return Output<D, T>::apply(loss, targets);
  }
  // Computes the losses before the reduction, for criterion.each(output, targets).
  template <class Loss, class Targets>
  Tensor<T, D> each(const Loss& loss, const Targets& targets) const {
    nn::detail::check_loss_shape<Loss>(S{});
    return Output<D, T>::each(loss, targets);
  }
};

// Returns the mean, or the sum, of all outputs of a batch as its loss: mean(net(x, t)).backward()
// of a network that computes its loss itself.
template <class D, class T>
LossValue<D, T> mean(const Output<D, T>& output) {
  return nn::OutputLoss{}(output);
}
template <class D, class T>
LossValue<D, T> sum(const Output<D, T>& output) {
  return nn::OutputLoss{{.reduction = nn::Reduction::sum}}(output);
}

template <class D, class T>
Tensor(const Output<D, T>&) -> Tensor<T, D>;

namespace detail {

template <class D, class T>
std::true_type is_loss(const LossValue<D, T>*);
std::false_type is_loss(const void*);
template <class D, class T>
std::true_type is_output(const Output<D, T>*);
std::false_type is_output(const void*);
template <class X>
concept AnyLoss = decltype(is_loss(static_cast<std::remove_cvref_t<X>*>(nullptr)))::value;
template <class X>
concept AnyOutput = decltype(is_output(static_cast<std::remove_cvref_t<X>*>(nullptr)))::value;
// Operands that the language or the library might combine with a loss or an output. Types of users
// may have operators of their own.
template <class X>
concept ResultOperand =
    AnyLoss<X> || AnyOutput<X> || std::is_arithmetic_v<std::remove_cvref_t<X>> || TensorLike<X>;
template <class A, class B>
concept WithResult = ResultOperand<A> && ResultOperand<B> &&
    (AnyLoss<A> || AnyLoss<B> || AnyOutput<A> || AnyOutput<B>);

}  // namespace detail

// Arithmetic with losses and outputs does not compile.
#define GPUNET_REFUSED_OF_RESULTS(op)                                                              \
  template <class A, class B>                                                                      \
  requires detail::WithResult<A, B>                                                                \
  auto operator op(A&&, B&&) {                                                                     \
    static_assert(!detail::AnyLoss<A> && !detail::AnyLoss<B>,                                      \
                  "gpunet::LossValue: no arithmetic with losses (a model stores the gradients of " \
                  "one), write "                                                                   \
                  "loss.item() for the number, loss.backward(0.1) for 0.1 * loss, and a network "  \
                  "whose outputs "                                                                 \
                  "are losses, mean(net(x, t)), for a sum of several");                            \
    static_assert(                                                                                 \
        !detail::AnyOutput<A> && !detail::AnyOutput<B>,                                            \
        "gpunet::Output: no arithmetic with outputs (their gradient comes from a loss), write "    \
        "net(x).tensor() for a copy, or a network of values that does it: Network net(host, f, "   \
        "{4})");                                                                                   \
  }
GPUNET_REFUSED_OF_RESULTS(+)
GPUNET_REFUSED_OF_RESULTS(-)
GPUNET_REFUSED_OF_RESULTS(*)
GPUNET_REFUSED_OF_RESULTS(/)
GPUNET_REFUSED_OF_RESULTS(+=)
GPUNET_REFUSED_OF_RESULTS(-=)
GPUNET_REFUSED_OF_RESULTS(<)
GPUNET_REFUSED_OF_RESULTS(>)
GPUNET_REFUSED_OF_RESULTS(==)
#undef GPUNET_REFUSED_OF_RESULTS

// Prints a copy of the output, as a tensor.
template <class D, class T>
std::ostream& operator<<(std::ostream& out, const Output<D, T>& output) {
  return out << output.tensor();
}

#define GPUNET_OUTPUT(D, T) class Output<D, T>
GPUNET_EXTERN_TEMPLATES(GPUNET_OUTPUT)

}  // namespace gpunet
