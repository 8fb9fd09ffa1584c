// Losses that compare outputs and targets number by number.
#pragma once

#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/device/traits.hpp>
#include <gpunet/nn/loss.hpp>
#include <gpunet/ops/elementwise_loss.hpp>

namespace gpunet::nn {

namespace detail {

// Returns the arguments of a loss whose losses are those of the numbers of an output.
template <class T>
ElementwiseLossArgs<T> elementwise_args(const LossPass<T, T>& pass, Reduction reduction) {
  const T divisor = reduction == Reduction::mean ? static_cast<T>(pass.features) : T{1};
  return {pass.slice, pass.features, pass.x,      pass.targets,
          divisor,    pass.scale,    pass.losses, pass.dx};
}

}  // namespace detail

// The reduction over all numbers of outputs and targets of one shape, [batch, ...], of F:
//   struct LogCosh {  // log cosh(x - t)
//     static constexpr std::string_view name = "LogCosh";
//     template <class T>
//     GPUNET_FN T value(T x, T t) const {
//       const T error = x > t ? x - t : t - x;  // cosh itself would overflow
//       return error + std::log1p(std::exp(-2 * error)) - std::log(T{2});
//     }
//     template <class T>
//     GPUNET_FN T gradient(T x, T t) const { return std::tanh(x - t); }  // by x
//   };
//   nn::ElementwiseLoss<LogCosh> criterion;
// F may have check(t) and check_output(x), which return a text about a wrong target or output, null
// for a right one.
template <class F>
class ElementwiseLoss : public LossFunction<ElementwiseLoss<F>> {
 public:
  using target_type = void;

  constexpr ElementwiseLoss() = default;
  constexpr explicit ElementwiseLoss(const F& f, Reduction reduction = Reduction::mean)
      : f_(f), reduction_(reduction) {}

  // Targets have the shape of the outputs.
  LossTraits traits(const Sizes& output) const {
    return {.target = output, .reduction = reduction_, .each = output};
  }
  // Outputs of every shape are allowed.
  template <class In>
  static constexpr void check_shape(In) {}

  // Throws Error for a wrong target, on devices whose memory the host can read.
  template <class D, class T>
  void check(D&, const View<const T, D>& targets, index_t features) const {
    if constexpr (requires { f_.check(T{}); } && DeviceTraits<D>::has_host_memory)
      for (index_t i = 0; i < targets.numel(); ++i)
        if (const char* problem = f_.check(targets.data()[i]))
          require(false, "gpunet::nn::", F::name, ": target ", targets.data()[i], " at ",
                  i % features, " of sample ", i / features, " of the batch ", problem);
  }

  // Computes losses and gradients of a slice, see loss.hpp. Throws Error for a wrong output, on
  // devices whose memory the host can read.
  template <class D, class T>
  void evaluate(D& device, const LossPass<T, T>& pass) const {
    if constexpr (requires { f_.check_output(T{}); } && DeviceTraits<D>::has_host_memory)
      for (index_t n = 0; n < pass.slice.count; ++n) {
        const T* sample = pass.x + pass.slice.offset(n, 0, pass.features);
        for (index_t k = 0; k < pass.features; ++k)
          if (const T x = sample[k * pass.slice.inner]; const char* problem = f_.check_output(x))
            require(false, "gpunet::nn::", F::name, ": output ", x, " of the network ", problem);
      }
    elementwise_loss(device, f_, detail::elementwise_args(pass, reduction_));
  }

 private:
  F f_{};
  Reduction reduction_ = Reduction::mean;
};

}  // namespace gpunet::nn
