// Element-wise layers from a function of one number.
#pragma once

#include <concepts>

#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/elementwise.hpp>

namespace gpunet::nn {

// Applies F to every element:
//   struct Softplus {  // y = log(1 + exp(x))
//     template <class T>
//     GPUNET_FN T value(T x) const { return log1p(exp(x)); }
//     template <class T>
//     GPUNET_FN T gradient(T x, T, T dy) const { return dy / (1 + exp(-x)); }  // from x, y, dy
//   };
//   nn::Sequential<nn::Input<4>, nn::Linear<8>, nn::Elementwise<Softplus>> net;
// The layer is printed by the name of F, with F::extra_repr(in, out), if there is one, in brackets.
template <class F>
class Elementwise {
 public:
  constexpr Elementwise() = default;
  constexpr explicit Elementwise(const F& f) : f_(f) {}

  GPUNET_REFUSED_CALL

  constexpr auto output(auto in) const { return in; }
  // Refuses a functor without value or gradient for elements of T by static_assert.
  template <class D, class T>
  static constexpr bool can_run() {
    static_assert(
        requires(const F& f, T x) {
          { f.value(x) } -> std::convertible_to<T>;
          { f.gradient(x, x, x) } -> std::convertible_to<T>;
        },
        "gpunet::nn::Elementwise: the functor lacks value(x) or gradient(x, y, dy), write both, "
        "each const: template <class T> GPUNET_FN T value(T x) const");
    return true;
  }
  // The function, for merging with neighbors (Sequential).
  constexpr F function() const { return f_; }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    builder.set_layer(gpunet::detail::signature<F>());
    return builder.add(ElementwiseOp<F>{f_}, x, in.sizes());
  }

 private:
  F f_{};
};

}  // namespace gpunet::nn
