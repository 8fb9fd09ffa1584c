// Dropout layers.
#pragma once

#include <gpunet/core/error.hpp>
#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/dropout.hpp>

namespace gpunet::nn {

namespace detail {

// The common part of Dropout and Dropout2d.
class DropoutLayer {
 public:
  constexpr explicit DropoutLayer(double p) : p_(p) {
    require(p >= 0 && p <= 1, "gpunet::nn::Dropout: p ", p,
            " (want 0 to 1), give the probability of a zero: 0.2 for 20 %");
  }

 protected:
  double p_;
};

}  // namespace detail

// Zeroes elements with probability p and multiplies the others by 1 / (1 - p) in training mode, as
// torch.nn.Dropout; in evaluation mode y = x. The mask depends on the model's seed, the pass, the
// layer, the sample's place in the batch and the element, so it is the same on all devices and for
// any number of threads.
class Dropout : public detail::DropoutLayer {
 public:
  constexpr explicit Dropout(double p = 0.5) : DropoutLayer(p) {}
  GPUNET_REFUSED_CALL

  constexpr auto output(auto in) const { return in; }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return builder.add(DropoutOp{p_, in.numel(), 1}, x, in.sizes());
  }
};

// The same for whole channels of [channels, height, width], as torch.nn.Dropout2d.
class Dropout2d : public detail::DropoutLayer {
 public:
  constexpr explicit Dropout2d(double p = 0.5) : DropoutLayer(p) {}
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 3,
                  "gpunet::nn::Dropout2d: the input has to have rank 3 [channels, height, width], "
                  "use Dropout for other shapes");
    return in;
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return builder.add(DropoutOp{p_, in.template at<0>(), detail::per_channel(in)}, x, in.sizes());
  }
};

}  // namespace gpunet::nn
