// The one-dimensional adaptive average pooling layer.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/ops/avg_pool2d/avg_pool2d.hpp>

namespace gpunet::nn {

// Mean over Length windows, as torch.nn.AdaptiveAvgPool1d(Length): [c, l] -> [c, Length]. Output o
// is the mean of the elements floor(o l / Length) to ceil((o + 1) l / Length) - 1.
template <index_t Length>
class AdaptiveAvgPool1d {
  static_assert(Length >= 1 && Length <= 1 << 16,
                "gpunet::nn::AdaptiveAvgPool1d: the length of the output has to be 1 to 65536");

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 2,
                  "gpunet::nn::AdaptiveAvgPool1d: the input has to have rank 2 [channels, length], "
                  "give Input two sizes");
    if constexpr (In::rank == 2) {
      require_possible_image("AdaptiveAvgPool1d", in.template at<0>(), 1, in.template at<1>(), 0);
      require_possible_image("AdaptiveAvgPool1d", in.template at<0>(), 1, Length, 0);
      return Shape(in.template at<0>(), Dim<Length>{});
    }
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return builder.add(AvgPool2dOp{{in.template at<0>(), {1, 1}, {in.template at<1>(), Length}}}, x,
                       output(in).sizes());
  }
};

}  // namespace gpunet::nn
