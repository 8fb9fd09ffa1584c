// The three-dimensional adaptive average pooling layer.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/ops/pool3d.hpp>

namespace gpunet::nn {

// Mean over Depth x Height x Width windows, as torch.nn.AdaptiveAvgPool3d((Depth, Height, Width)):
// [c, d, h, w] -> [c, Depth, Height, Width], each dimension as in AdaptiveAvgPool2d.
// AdaptiveAvgPool3d<1, 1, 1> is global average pooling.
template <index_t Depth, index_t Height, index_t Width>
class AdaptiveAvgPool3d {
  static_assert(Depth >= 1 && Height >= 1 && Width >= 1 && Depth <= 1 << 16 && Height <= 1 << 16 &&
                    Width <= 1 << 16,
                "gpunet::nn::AdaptiveAvgPool3d: depth, height and width of the output have to be 1 "
                "to 65536");

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 4,
                  "gpunet::nn::AdaptiveAvgPool3d: the input has to have rank 4 [channels, depth, "
                  "height, width], give Input four sizes");
    if constexpr (In::rank == 4) {
      const Sizes sizes = in.sizes();
      require_possible_volume("AdaptiveAvgPool3d", sizes[0], sizes.tail(), 0);
      require_possible_volume("AdaptiveAvgPool3d", sizes[0], {Depth, Height, Width}, 0);
      return Shape(in.template at<0>(), Dim<Depth>{}, Dim<Height>{}, Dim<Width>{});
    }
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const Sizes from = in.sizes();
    return builder.add(AvgPool3dOp{from[0], {from[1], Depth}, {from[2], Height}, {from[3], Width}},
                       x, output(in).sizes());
  }
};

}  // namespace gpunet::nn
