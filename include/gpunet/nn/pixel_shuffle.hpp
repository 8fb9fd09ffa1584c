// Channels as pixels of a larger image.
#pragma once

#include <type_traits>

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/ops/gather.hpp>

namespace gpunet::nn {

// [c factor^2, h, w] -> [c, h factor, w factor], as torch.nn.PixelShuffle: y[c][h factor + i][w
// factor + j] is x[(c factor + i) factor + j][h][w].
template <index_t factor>
class PixelShuffle {
  static_assert(factor >= 1 && factor <= 1 << 16,
                "gpunet::nn::PixelShuffle: the factor has to be 1 to 65536");

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 3,
                  "gpunet::nn::PixelShuffle: the input has to have rank 3 [channels, height, "
                  "width], give Input three sizes");
    if constexpr (In::rank == 3) {
      const auto channels = in.template at<0>();
      if constexpr (!std::is_same_v<decltype(channels), const Dim<dyn>>)
        static_assert(
            decltype(channels){} % (factor * factor) == 0,
            "gpunet::nn::PixelShuffle: the number of channels has to be a multiple of factor^2");
      require(channels % (factor * factor) == 0, "gpunet::nn::PixelShuffle: ", index_t{channels},
              " channels (want a multiple of ", factor * factor,
              ", the square of the factor), give as many");
      return Shape(channels / Dim<factor * factor>{}, in.template at<1>() * Dim<factor>{},
                   in.template at<2>() * Dim<factor>{});
    }
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return builder.add(GatherOp::pixel_shuffle(in.sizes(), factor), x, output(in).sizes());
  }
};

}  // namespace gpunet::nn
