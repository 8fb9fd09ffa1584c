// Dropout layers.
#pragma once

#include <gpunet/core/error.hpp>
#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/dropout.hpp>

namespace gpunet::nn {

namespace detail {

// The common part of Dropout, Dropout1d, 2d and 3d.
class DropoutLayer {
 public:
  constexpr explicit DropoutLayer(double p) : p_(p) {
    require(p >= 0 && p <= 1, "gpunet::nn::Dropout: p ", p,
            " (want 0 to 1), give the probability of a zero: 0.2 for 20 %");
  }

 protected:
  double p_;
};

// The common part of Dropout1d, 2d and 3d: zeroes whole channels.
class ChannelDropout : public DropoutLayer {
 public:
  constexpr explicit ChannelDropout(double p = 0.5) : DropoutLayer(p) {}

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return builder.add(DropoutOp{p_, in.template at<0>(), per_channel(in)}, x, in.sizes());
  }
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

// The same for whole channels of [channels, length], as torch.nn.Dropout1d.
class Dropout1d : public detail::ChannelDropout {
 public:
  using detail::ChannelDropout::ChannelDropout;
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 2,
                  "gpunet::nn::Dropout1d: the input has to have rank 2 [channels, length], "
                  "use Dropout for other shapes");
    return in;
  }
};

// The same for whole channels of [channels, height, width], as torch.nn.Dropout2d.
class Dropout2d : public detail::ChannelDropout {
 public:
  using detail::ChannelDropout::ChannelDropout;
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 3,
                  "gpunet::nn::Dropout2d: the input has to have rank 3 [channels, height, width], "
                  "use Dropout for other shapes");
    return in;
  }
};

// The same for whole channels of [channels, depth, height, width], as torch.nn.Dropout3d.
class Dropout3d : public detail::ChannelDropout {
 public:
  using detail::ChannelDropout::ChannelDropout;
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(
        In::rank == 4,
        "gpunet::nn::Dropout3d: the input has to have rank 4 [channels, depth, height, width], "
        "use Dropout for other shapes");
    return in;
  }
};

}  // namespace gpunet::nn
