// Element-wise layers from a function of one number.
#pragma once

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

  constexpr auto output(auto in) const { return in; }
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
