// A layer made of a function of one number.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/elementwise.hpp>

namespace gpunet::nn {

// Applies F to every element, on both devices:
//   struct Softplus {  // y = log(1 + exp(x))
//     template <class T>
//     GPUNET_FN T value(T x) const { return log1p(exp(x)); }
//     template <class T>
//     GPUNET_FN T gradient(T x, T, T dy) const { return dy / (1 + exp(-x)); }  // of x, y, dy
//   };
//   nn::Sequential<nn::Input<4>, nn::Linear<8>, nn::Elementwise<Softplus>> net;
// F is printed by its name, with F::extra_repr(in, out) in brackets where there is one.
template <class F>
class Elementwise {
 public:
  constexpr Elementwise() = default;
  constexpr explicit Elementwise(const F& f) : f_(f) {}

  constexpr auto output(auto in) const { return in; }
  constexpr F function() const { return f_; }

  // See layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    builder.set_layer(gpunet::detail::signature<F>());
    return builder.add(ElementwiseOp<F>{f_}, x, in.sizes());
  }

 private:
  F f_{};
};

}  // namespace gpunet::nn
