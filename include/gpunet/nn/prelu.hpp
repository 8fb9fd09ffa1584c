// The rectifier with slopes that are learned.
#pragma once

#include <array>

#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/prelu.hpp>

namespace gpunet::nn {

// y = x where it is positive, else weight x, as torch.nn.PReLU(num_parameters, init): one slope for
// all, or one for each channel (the first dimension of a sample). He and others, "Delving Deep into
// Rectifiers", ICCV 2015.
template <index_t num_parameters = 1>
class PReLU {
  static_assert(num_parameters >= 1,
                "gpunet::nn::PReLU: the number of slopes has to be 1 or that of the channels");

 public:
  constexpr explicit PReLU(double init = 0.25) : init_(init) {}

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    if constexpr (num_parameters > 1) {
      static_assert(In::rank >= 1, "gpunet::nn::PReLU: the input has no channels, use PReLU<1>");
      if constexpr (In::rank >= 1)
        require(in.template at<0>() == num_parameters, "gpunet::nn::PReLU: ", num_parameters,
                " slopes for ", index_t{in.template at<0>()},
                " channels (want 1 slope or one for each channel), change the number");
    }
    return in;
  }

  constexpr auto parameters(auto) const {
    return std::array{constant("weight", {num_parameters}, init_)};
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return builder.add(
        PReLUOp{num_parameters, num_parameters == 1 ? 1 : in.numel() / num_parameters}, x,
        in.sizes(), parameters(in));
  }

 private:
  double init_;
};

}  // namespace gpunet::nn
