// The loss of networks that compute it themselves.
#pragma once

#include <gpunet/nn/loss.hpp>
#include <gpunet/ops/elementwise_loss.hpp>

namespace gpunet::nn {

namespace detail {

// x itself
struct OutputItself {
  template <class T>
  GPUNET_FN T value(T x, T) const {
    return x;
  }
  template <class T>
  GPUNET_FN T gradient(T, T) const {
    return 1;
  }
};

}  // namespace detail

// The mean, or with Reduction::sum the sum, of a network's outputs: for networks whose output is their loss, written as a function of
// values (value.hpp). It has no targets: criterion(net(x, t)), which is mean(net(x, t)); train::Step step(net, nn::OutputLoss{}, optimizer),
// step({x, t}).
class OutputLoss : public LossFunction<OutputLoss> {
 public:
  using target_type = void;

  constexpr OutputLoss(const LossOptions& options = {}) : reduction_(options.reduction) {}

  // There are no targets: 0 numbers for each output.
  LossTraits traits(const Sizes&) const { return {.target = Sizes{0}, .reduction = reduction_}; }
  // Outputs of every shape are allowed.
  template <class In>
  static constexpr void check_shape(In) {}
  // There is nothing to check.
  template <class D, class T>
  void check(D&, const View<const T, D>&, index_t) const {}

  // Computes losses and gradients of a slice, see loss.hpp.
  template <class D, class T>
  void evaluate(D& device, const LossPass<T, T>& pass) const {
    const T divisor = reduction_ == Reduction::mean ? static_cast<T>(pass.features) : T{1};
    elementwise_loss(device, detail::OutputItself{},
                     ElementwiseLossArgs<T>{pass.slice, pass.features, pass.x, nullptr, divisor, pass.scale,
                                            pass.losses, pass.dx});
  }

  using LossFunction<OutputLoss>::operator();
  // Returns the loss of a batch.
  template <class Output>
  auto operator()(const Output& output) const {
    using Targets = View<const typename Output::value_type, typename Output::device_type>;
    return output.apply(*this, Targets(nullptr, Sizes{output.batch(), 0}));
  }

 private:
  Reduction reduction_;
};

}  // namespace gpunet::nn

GPUNET_EXTERN_ELEMENTWISE_LOSS(gpunet::nn::detail::OutputItself);
