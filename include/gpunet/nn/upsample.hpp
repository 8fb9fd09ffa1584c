// Larger images, signals and volumes.
#pragma once

#include <algorithm>
#include <type_traits>

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/ops/bilinear.hpp>
#include <gpunet/ops/gather.hpp>

namespace gpunet::nn {

// How Upsample computes a pixel: the nearest one, or an interpolation of the four around its place.
struct Nearest {};
struct Bilinear {};

// Whether the corners of both images are the centers of their outermost pixels. In PyTorch
// align_corners=True.
template <bool aligned>
struct AlignCorners {};

// [c, h, w] -> [c, h factor, w factor], as torch.nn.Upsample(scale_factor=factor): Upsample<2>
// repeats pixels, Upsample<2, Bilinear> and Upsample<2, Bilinear, AlignCorners<true>> interpolate.
// Upsample<factor> repeats the numbers of [c, length] and [c, depth, h, w] too.
template <index_t factor, class Mode = Nearest, class Corners = AlignCorners<false>>
class Upsample {
  static constexpr bool aligned = std::is_same_v<Corners, AlignCorners<true>>;
  static_assert(factor >= 1 && factor <= 1 << 16,
                "gpunet::nn::Upsample: the factor has to be 1 to 65536");
  static_assert(std::is_same_v<Mode, Nearest> || std::is_same_v<Mode, Bilinear>,
                "gpunet::nn::Upsample: the mode is neither Nearest nor Bilinear");
  static_assert(aligned || std::is_same_v<Corners, AlignCorners<false>>,
                "gpunet::nn::Upsample: the option behind the mode is not AlignCorners<...>");
  static_assert(
      !aligned || std::is_same_v<Mode, Bilinear>,
      "gpunet::nn::Upsample: AlignCorners<true> is for Bilinear, use Upsample<factor, Bilinear, "
      "AlignCorners<true>>");

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(
        In::rank == 3 || (std::is_same_v<Mode, Nearest> && In::rank >= 2 && In::rank <= 4),
        "gpunet::nn::Upsample: the input has to have rank 3 [channels, height, width], "
        "for Nearest also 2 [channels, length] or 4 [channels, depth, height, width]");
    const auto out = enlarged<1>(in);
    detail::require_possible("Upsample", "an output", out.sizes(), 0);
    return out;
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const Sizes from = in.sizes(), out = output(in).sizes();
    if constexpr (std::is_same_v<Mode, Bilinear>)
      return builder.add(BilinearOp{factor, axis(from[1]), axis(from[2])}, x, out);
    else
      return builder.add(GatherOp::upsample(from, factor), x, out);
  }

 private:
  // Returns the shape with `factor` times its extents from I on.
  template <std::size_t I, class In>
  static constexpr auto enlarged(In in) {
    if constexpr (I < In::rank)
      return enlarged<I + 1>(with_extent<I>(in, in.template at<I>() * Dim<factor>{}));
    else
      return in;
  }

  // The center of output o is at (o + 1/2) / factor - 1/2, or with its corners at the corners of x
  // at o (size - 1) / (outputs - 1).
  static BilinearAxis axis(index_t size) {
    const index_t outputs = size * factor;
    if (!aligned) return {size, outputs, 2, 1 - factor, 2 * factor};
    return {size, outputs, size - 1, 0, std::max<index_t>(1, outputs - 1)};
  }
};

}  // namespace gpunet::nn
