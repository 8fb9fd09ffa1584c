// The contract of a loss.
//
// A loss is a small value without device or memory. For every real sample n of a slice it writes
// losses[n] and the gradient dx = scale d losses[n] / d x; for padding it writes dx = 0. It has
//
//   target_type                   the type of the numbers of a target; void: that of the output
//   traits(output)                optional: LossTraits other than the defaults; output are the
//                                 Sizes of one output. Targets are a View<const target_type, D>
//                                 [batch, ...target sizes]
//   check_shape(shape)            refuses wrong Shapes of the network's output by static_assert
//   check_sizes(sizes)            optional: the same at run time, throws Error
//   check(device, targets, features)
//                                 throws Error for invalid targets, on devices whose memory the
//                                 host can read
//   evaluate(device, pass)        computes losses and gradients of a slice
//   total_weight(device, batch, targets, total)
//                                 if it is weighted: computes total[0], the sum of the weights of
//                                 all targets, from batch.targets, batch.channels and
//                                 batch.constants; targets is their number
//   ignore_index()                optional: the label that is left out, a std::optional<index_t>,
//                                 also by metrics of a training
//   criterion(output, targets)    as in PyTorch; provided by the base LossFunction, as is
//                                 criterion.each(output, targets)
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>

#include <gpunet/core/shape.hpp>
#include <gpunet/functions/losses.hpp>
#include <gpunet/ops/slice.hpp>
#include <gpunet/tensor/view.hpp>

namespace gpunet {

namespace nn {

// Properties of a loss, for outputs of certain sizes.
struct LossTraits {
  Sizes target = {};                      // of one target: one number
  Reduction reduction = Reduction::mean;  // how the losses of the samples become one
  // Numbers that evaluate gets as pass.constants, on the device.
  std::span<const double> constants = {};
  bool is_weighted = false;  // whether the mean is over weights: see total_weight
  // Of the losses of one output, of which its loss is made: see LossFunction::each. One number.
  Sizes each = {};
  // The output of the loss in a network with several; -1 is the last.
  std::optional<int> output = {};
};

// The arguments of a loss for a slice. Data of samples lie as [outer][feature][inner], see Slice.
template <class T, class Target>
struct LossPass {
  Slice slice;
  index_t features;       // of one sample of the network's output
  const T* x;             // the network's output
  const Target* targets;  // [count, ...target sizes]
  T scale;                // of the gradient: 1 / batch size for the mean, 1 for the sum
  T* losses;              // [count]
  T* dx;
  index_t channels = features;   // the first extent of one output, 1 if it has none
  const T* constants = nullptr;  // of the loss, on the device
  // The total weight of the batch, if the loss is weighted: divides losses and gradients.
  const T* total = nullptr;
  // Of an output, where each of its losses is that of a sample of its own: see LossFunction::each.
  index_t places = 1;
  // The features of the output that LossTraits::output names.
  index_t part_begin = 0, part_end = features;
};

template <class Loss>
struct LossFunction;

namespace detail {

// Accepts a loss, and a type that inherits from one. Only declared.
template <class Loss, class Base>
requires std::is_base_of_v<Base, Loss>
void accept_loss(const LossFunction<Base>&);

// A compile error for a type without the base of losses.
template <class Loss>
struct RequireLossFunction {
  static_assert(
      requires(const Loss& loss) { accept_loss<Loss>(loss); },
      "gpunet::nn: this is not a loss (arguments are model, loss, optimizer), give a loss of your "
      "own its base: "
      "struct MyLoss : nn::LossFunction<MyLoss>");
};

// Compile errors for a type that is not a loss on device D for outputs of type T.
template <class Loss, class D, class T>
struct RequireLoss : RequireLossFunction<Loss> {
  static_assert(
      requires { typename Loss::target_type; },
      "gpunet::nn: the loss has no target_type (the type of the numbers of a target), write using "
      "target_type = "
      "label_t "
      "for classes, or void for the type of the network's output");
  using Target =
      std::conditional_t<std::is_void_v<typename Loss::target_type>, T, typename Loss::target_type>;
  static_assert(
      requires(const Loss& loss, D& device, const View<const Target, D>& targets,
               index_t features) { loss.check(device, targets, features); },
      "gpunet::nn: the loss has no function check for its targets on this device, write template "
      "<class D> void "
      "check(D& device, View<const target_type, D> targets, index_t features) const");
  static_assert(
      requires(const Loss& loss, D& device, const LossPass<T, Target>& pass) {
        loss.evaluate(device, pass);
      },
      "gpunet::nn: the loss has no function evaluate for this device and element type, write "
      "template <class D, "
      "class "
      "T> void evaluate(D& device, const nn::LossPass<T, target_type>& pass) const");
};

// Refuses a loss that does not match the shape of the network's output. A compile error.
template <class Loss, class S>
constexpr void check_loss_shape(S shape) {
  (void)RequireLossFunction<Loss>{};
  constexpr bool checks = requires {
    Loss::check_shape(shape);
  };
  static_assert(checks,
                "gpunet::nn: the loss has no function check_shape, write template <class In> "
                "static constexpr void "
                "check_shape(In), with a static_assert if it does not take all shapes");
  if constexpr (checks) Loss::check_shape(shape);
}

}  // namespace detail

// The type of the numbers of a loss's targets, for outputs of type T on device D.
template <class Loss, class D, class T>
using TargetOf = typename detail::RequireLoss<Loss, D, T>::Target;

// The base of losses: criterion(net(inputs), targets) returns the mean (or sum) over the batch as a
// LossValue.
template <class Loss>
struct LossFunction {
  template <class Output, class Target>
  auto operator()(const Output& output, const Target& targets) const {
    static_assert(std::is_base_of_v<LossFunction, Loss>,
                  "gpunet::nn: the base LossFunction of a loss is that of another type, write "
                  "struct MyLoss : "
                  "nn::LossFunction<MyLoss>");
    static_assert(
        requires { output.features(); },
        "gpunet::nn: a loss takes what a model returns, write criterion(net(inputs), targets)");
    return output.apply(static_cast<const Loss&>(*this), targets);
  }

  // Returns the losses before the reduction as a Tensor, as reduction="none" in PyTorch: of losses
  // of two arrays [batch, ...] as the outputs, of those with classes [batch, ...] without the
  // classes, of others [batch]. They are numbers to look at: backward() is a function of
  // criterion(output, targets) alone.
  template <class Output, class Target>
  auto each(const Output& output, const Target& targets) const {
    static_assert(
        requires { output.features(); },
        "gpunet::nn: a loss takes what a model returns, write criterion.each(net(inputs), "
        "targets)");
    return output.each(static_cast<const Loss&>(*this), targets);
  }
};

namespace detail {

// Returns the label that a loss leaves out, if there is one.
template <class Loss>
std::optional<index_t> ignore_index_of([[maybe_unused]] const Loss& loss) {
  if constexpr (requires { loss.ignore_index(); })
    return loss.ignore_index();
  else
    return {};
}

}  // namespace detail

}  // namespace nn

// The functions of a type of loss for outputs of type T on device D.
template <class D, class T>
struct LossCalls {
  std::size_t target_bytes;  // of a number of a target
  nn::LossTraits (*traits)(const void* loss, const Sizes& output);
  void (*check_sizes)(const void* loss, const Sizes& output);
  void (*check)(const void* loss, D& device, const void* targets, const Sizes& sizes,
                index_t features);
  void (*total_weight)(const void* loss, D& device, const nn::LossPass<T, void>& batch,
                       index_t targets, T* total);
  void (*evaluate)(const void* loss, D& device, const nn::LossPass<T, void>& pass);
};

namespace detail {

template <class Loss, class D, class T>
struct CallsOfLoss {
  using Target = nn::TargetOf<Loss, D, T>;
  static_assert(sizeof(Target) % 4 == 0,
                "gpunet::nn: the target_type of a loss has to be of 4 or 8 bytes (label_t, float, "
                "double), or void");

  static const Loss& of(const void* loss) { return *static_cast<const Loss*>(loss); }
  static nn::LossPass<T, Target> typed(const nn::LossPass<T, void>& pass) {
    return {pass.slice,     pass.features, pass.x,      static_cast<const Target*>(pass.targets),
            pass.scale,     pass.losses,   pass.dx,     pass.channels,
            pass.constants, pass.total,    pass.places, pass.part_begin,
            pass.part_end};
  }

  static nn::LossTraits traits(const void* loss, const Sizes& output) {
    if constexpr (requires(const Loss& l) { l.traits(output); })
      return of(loss).traits(output);
    else
      return {};
  }
  static void check_sizes(const void* loss, const Sizes& output) {
    if constexpr (requires(const Loss& l) { l.check_sizes(output); }) of(loss).check_sizes(output);
  }
  static void check(const void* loss, D& device, const void* targets, const Sizes& sizes,
                    index_t features) {
    of(loss).check(device, View<const Target, D>(static_cast<const Target*>(targets), sizes),
                   features);
  }
  static void total_weight(const void* loss, D& device, const nn::LossPass<T, void>& batch,
                           index_t targets, T* total) {
    if constexpr (requires(const Loss& l) { l.total_weight(device, typed(batch), targets, total); })
      of(loss).total_weight(device, typed(batch), targets, total);
  }
  static void evaluate(const void* loss, D& device, const nn::LossPass<T, void>& pass) {
    of(loss).evaluate(device, typed(pass));
  }

  static constexpr LossCalls<D, T> table = {sizeof(Target), traits,       check_sizes,
                                            check,          total_weight, evaluate};
};

}  // namespace detail

// Returns the functions of a type of loss.
template <class Loss, class D, class T>
const LossCalls<D, T>* calls_of_loss() {
  return &detail::CallsOfLoss<Loss, D, T>::table;
}

// A loss of any type for outputs of type T on device D, borrowed.
template <class D, class T>
class AnyLoss {
 public:
  template <class Loss>
  AnyLoss(const Loss& loss)  // implicit, as from string to string_view
      : loss_(&loss), calls_(calls_of_loss<Loss, D, T>()) {}

  // Returns the loss; null if it has another type.
  template <class Loss>
  const Loss* as() const {
    return calls_ == calls_of_loss<Loss, D, T>() ? static_cast<const Loss*>(loss_) : nullptr;
  }

  // Returns the bytes of a number of a target.
  std::size_t target_bytes() const { return calls_->target_bytes; }
  nn::LossTraits traits(const Sizes& output) const { return calls_->traits(loss_, output); }
  // Throws Error if the network's output has a wrong shape.
  void check_sizes(const Sizes& output) const { calls_->check_sizes(loss_, output); }
  // Throws Error for invalid targets, of these sizes with the batch in front.
  void check(D& device, const void* targets, const Sizes& sizes, index_t features) const {
    calls_->check(loss_, device, targets, sizes, features);
  }
  // Computes the total weight of a batch of so many targets, of a loss that is weighted.
  void total_weight(D& device, const nn::LossPass<T, void>& batch, index_t targets,
                    T* total) const {
    calls_->total_weight(loss_, device, batch, targets, total);
  }
  // Computes losses and gradients of a slice.
  void evaluate(D& device, const nn::LossPass<T, void>& pass) const {
    calls_->evaluate(loss_, device, pass);
  }

 private:
  const void* loss_;
  const LossCalls<D, T>* calls_;
};

// The targets of a batch with the loss that they are for, both borrowed.
template <class D, class T>
struct TargetsOf {
  AnyLoss<D, T> loss;
  const void* data;
  Sizes sizes;  // [batch, ...target sizes]

  template <class Loss>
  TargetsOf(const Loss& of, const View<const nn::TargetOf<Loss, D, T>, D>& targets)
      : loss(of), data(targets.data()), sizes(targets.sizes()) {}
  TargetsOf(const AnyLoss<D, T>& of, const void* targets, const Sizes& target_sizes)
      : loss(of), data(targets), sizes(target_sizes) {}

  std::size_t bytes() const {
    return static_cast<std::size_t>(sizes.numel()) * loss.target_bytes();
  }
};

}  // namespace gpunet
