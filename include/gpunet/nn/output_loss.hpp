// The loss of networks that compute it themselves.
#pragma once

#include <optional>

#include <gpunet/core/long_sum.hpp>
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

// losses[n] = the sum over one of several outputs / divisor; dx is 0 at the others. One index = one
// sample.
template <class T>
struct LossOfPart {
  Slice slice;
  index_t features, begin, end;  // of all outputs, and of this one
  const T* x;
  T divisor, scale;
  T* losses;
  T* dx;

  GPUNET_FN void operator()(index_t n) const {
    LongSum<T> sum;
    for (index_t k = 0; k < features; ++k) {
      const index_t i = slice.offset(n, k, features);
      const bool counts = begin <= k && k < end && n < slice.count;
      if (counts) sum += x[i];
      dx[i] = counts ? scale / divisor : T{};
    }
    if (n < slice.count) losses[n] = sum.value() / divisor;
  }
};

template <class D, class T>
void loss_of_part(D& device, const LossOfPart<T>& loss) {
  for_each(device, loss.slice.samples(), loss);
}
#define GPUNET_LOSS_OF_PART(D, T) void loss_of_part(D&, const LossOfPart<T>&)
GPUNET_EXTERN_TEMPLATES(GPUNET_LOSS_OF_PART)

}  // namespace detail

// Options of OutputLoss.
struct OutputLossOptions {
  Reduction reduction = Reduction::mean;
  std::optional<int> output =
      std::nullopt;  // the output that is the loss, of a network with several; -1 is the last
};

// The mean, or with Reduction::sum the sum, of a network's outputs: for networks whose output is
// their loss, written as a function of values (value.hpp). It has no targets: criterion(net(x, t)),
// which is mean(net(x, t)); train::Step step(net, nn::OutputLoss{}, optimizer), step({x, t}). A
// network may have other outputs beside its loss, which get no gradient:
// nn::OutputLoss({.output = -1}).
class OutputLoss : public LossFunction<OutputLoss> {
 public:
  using target_type = void;

  constexpr OutputLoss(const OutputLossOptions& options = {}) : options_(options) {}

  // There are no targets: 0 numbers for each output.
  LossTraits traits(const Sizes&) const {
    return {.target = Sizes{0}, .reduction = options_.reduction, .output = options_.output};
  }
  // Outputs of every shape are allowed.
  template <class In>
  static constexpr void check_shape(In) {}
  // There is nothing to check.
  template <class D, class T>
  void check(D&, const View<const T, D>&, index_t) const {}

  // Computes losses and gradients of a slice, see loss.hpp.
  template <class D, class T>
  void evaluate(D& device, const LossPass<T, T>& pass) const {
    const index_t numbers = pass.part_end - pass.part_begin;
    const T divisor = options_.reduction == Reduction::mean ? static_cast<T>(numbers) : T{1};
    if (numbers < pass.features) {
      detail::loss_of_part(
          device, detail::LossOfPart<T>{pass.slice, pass.features, pass.part_begin, pass.part_end,
                                        pass.x, divisor, pass.scale, pass.losses, pass.dx});
      return;
    }
    elementwise_loss(device, detail::OutputItself{},
                     ElementwiseLossArgs<T>{pass.slice, pass.features, pass.x, nullptr, divisor,
                                            pass.scale, pass.losses, pass.dx});
  }

  using LossFunction<OutputLoss>::operator();
  // Returns the loss of a batch.
  template <class Output>
  auto operator()(const Output& output) const {
    using Targets = View<const typename Output::value_type, typename Output::device_type>;
    return output.apply(*this, Targets(nullptr, Sizes{output.batch(), 0}));
  }

 private:
  OutputLossOptions options_;
};

}  // namespace gpunet::nn

GPUNET_EXTERN_ELEMENTWISE_LOSS(gpunet::nn::detail::OutputItself);
