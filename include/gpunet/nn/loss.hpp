// The contract of a loss.
//
// A loss is a small value without device or memory. For every real sample n of a slice it writes losses[n] and the gradient
// dx = scale d losses[n] / d x; for padding it writes dx = 0. It has
//
//   target_type                        the type of a target; there is one per sample: View<const target_type, D> [batch]
//   check_shape(shape)                 refuses wrong Shapes of the network's output by static_assert
//   check_sizes(sizes)                 optional: the same at run time, throws Error
//   check(device, targets, features)   throws Error for invalid targets, on devices whose memory the host can read
//   evaluate(device, pass)             computes losses and gradients of a slice
//   criterion(output, targets)         as in PyTorch; provided by the base LossFunction
#pragma once

#include <gpunet/core/shape.hpp>
#include <gpunet/ops/slice.hpp>
#include <gpunet/tensor/view.hpp>

namespace gpunet {

namespace nn {

// The arguments of a loss for a slice. Data of samples lie as [outer][feature][inner], see Slice.
template <class T, class Target>
struct LossPass {
  Slice slice;
  index_t features;       // of one sample of the network's output
  const T* x;             // the network's output
  const Target* targets;  // [count]
  T scale;                // of the gradient: 1 / batch size for the mean
  T* losses;              // [count]
  T* dx;
};

// The base of losses: criterion(net(inputs), targets) returns the mean over the batch as a LossValue.
template <class Loss>
struct LossFunction {
  template <class Output, class Target>
  auto operator()(const Output& output, const Target& targets) const {
    static_assert(
        requires { output.features(); },
        "gpunet::nn: a loss takes what a model returns, write criterion(net(inputs), targets)");
    return output.apply(static_cast<const Loss&>(*this), targets);
  }
};

}  // namespace nn

// A loss of any type with the targets of a batch, both borrowed, for outputs of type T on device D.
template <class D, class T>
class TargetsOf {
 public:
  template <class Loss>
  TargetsOf(const Loss& loss, const View<const typename Loss::target_type, D>& targets)
      : loss_(&loss), targets_(targets.data()), sizes_(targets.sizes()), calls_(&CallsOf<Loss>::table) {}

  index_t count() const { return sizes_.numel(); }
  const Sizes& sizes() const { return sizes_; }

  // Throws Error if the network's output has a wrong shape.
  void check_sizes(const Sizes& sizes) const { calls_->check_sizes(loss_, sizes); }
  // Throws Error for invalid targets.
  void check(D& device, index_t features) const { calls_->check(*this, device, features); }
  // Computes losses and gradients of a slice whose first sample is `first` of the batch; sets pass.targets.
  void evaluate(D& device, index_t first, const nn::LossPass<T, void>& pass) const {
    calls_->evaluate(*this, device, first, pass);
  }

 private:
  struct Calls {
    void (*check_sizes)(const void* loss, const Sizes& sizes);
    void (*check)(const TargetsOf& targets, D& device, index_t features);
    void (*evaluate)(const TargetsOf& targets, D& device, index_t first, const nn::LossPass<T, void>& pass);
  };
  template <class Loss>
  struct CallsOf {
    using Target = typename Loss::target_type;
    static void check_sizes(const void* loss, const Sizes& sizes) {
      if constexpr (requires(const Loss& l) { l.check_sizes(sizes); })
        static_cast<const Loss*>(loss)->check_sizes(sizes);
    }
    static void check(const TargetsOf& t, D& device, index_t features) {
      const auto* targets = static_cast<const Target*>(t.targets_);
      static_cast<const Loss*>(t.loss_)->check(device, View<const Target, D>(targets, t.sizes_), features);
    }
    static void evaluate(const TargetsOf& t, D& device, index_t first, const nn::LossPass<T, void>& pass) {
      const auto* targets = static_cast<const Target*>(t.targets_) + first;
      static_cast<const Loss*>(t.loss_)->evaluate(
          device,
          nn::LossPass<T, Target>{pass.slice, pass.features, pass.x, targets, pass.scale, pass.losses, pass.dx});
    }

    static constexpr Calls table = {check_sizes, check, evaluate};
  };

  const void* loss_;
  const void* targets_;
  Sizes sizes_;
  const Calls* calls_;
};

}  // namespace gpunet
