// The two-dimensional adaptive average pooling layer.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/ops/avg_pool2d/avg_pool2d.hpp>

namespace gpunet::nn {

// Mean over Height x Width windows, as torch.nn.AdaptiveAvgPool2d((Height, Width)): [c, h, w] ->
// [c, Height, Width]. Row o of the output is the mean of the rows floor(o h / Height) to
// ceil((o + 1) h / Height) - 1, columns alike. AdaptiveAvgPool2d<1, 1> is global average pooling.
template <index_t Height, index_t Width>
class AdaptiveAvgPool2d {
  static_assert(
      Height >= 1 && Width >= 1 && Height <= 1 << 16 && Width <= 1 << 16,
      "gpunet::nn::AdaptiveAvgPool2d: height and width of the output have to be 1 to 65536");

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 3,
                  "gpunet::nn::AdaptiveAvgPool2d: the input has to have rank 3 [channels, height, "
                  "width], give Input three sizes");
    if constexpr (In::rank == 3) {
      require_possible_image("AdaptiveAvgPool2d", in.template at<0>(), in.template at<1>(),
                             in.template at<2>(), 0);
      require_possible_image("AdaptiveAvgPool2d", in.template at<0>(), Height, Width, 0);
      return Shape(in.template at<0>(), Dim<Height>{}, Dim<Width>{});
    }
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return builder.add(
        AvgPool2dOp{
            {in.template at<0>(), {in.template at<1>(), Height}, {in.template at<2>(), Width}}},
        x, output(in).sizes());
  }
};

}  // namespace gpunet::nn
