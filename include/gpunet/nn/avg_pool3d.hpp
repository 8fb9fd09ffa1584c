// The three-dimensional average pooling layer.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/nn/pooling.hpp>
#include <gpunet/ops/pool3d.hpp>

namespace gpunet::nn {

// Mean over windows, as torch.nn.AvgPool3d(Kernel, stride, padding): [c, d, h, w] -> [c, od, oh,
// ow], sizes and options as in AvgPool2d, KernelHeight and KernelWidth as in MaxPool3d.
template <index_t Kernel, class... Options>
class AvgPool3d {
  using Windows = detail::PoolWindows3d<Kernel, Options...>;
  using Planes = typename Windows::Planes;
  using Rows = typename Windows::Rows;
  using Columns = typename Windows::Columns;
  static_assert(
      ((detail::is_window_option<Options, 3> || detail::is_ceil_mode<Options> ||
        detail::is_count_include_pad<Options>)&&...),
      "gpunet::nn::AvgPool3d: an option is none of KernelHeight<...>, KernelWidth<...>, "
      "Stride<...>, Padding<...>, CeilMode<...> and CountIncludePad<...> with one number or three");
  static_assert(Windows::has_kernel(),
                "gpunet::nn::AvgPool3d: the kernel size has to be at least 1");
  static_assert(Windows::has_stride(), "gpunet::nn::AvgPool3d: the stride has to be at least 1");
  static_assert(Windows::has_padding(),
                "gpunet::nn::AvgPool3d: the padding may be at most half the kernel");

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 4,
                  "gpunet::nn::AvgPool3d: the input has to have rank 4 [channels, depth, height, "
                  "width], give Input four sizes");
    if constexpr (In::rank == 4) {
      static_assert(Windows::fit(In{}),
                    "gpunet::nn::AvgPool3d: the kernel is larger than the padded volume, use a "
                    "smaller kernel, a larger volume or Padding");
      return Windows::output("AvgPool3d", in);
    }
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const Sizes from = in.sizes(), to = output(in).sizes();
    constexpr bool counts = detail::counts_padding<Options...>;
    return builder.add(
        AvgPool3dOp{from[0],
                    {from[1], to[1], Planes::kernel, Planes::stride, Planes::padding, counts},
                    {from[2], to[2], Rows::kernel, Rows::stride, Rows::padding, counts},
                    {from[3], to[3], Columns::kernel, Columns::stride, Columns::padding, counts}},
        x, to);
  }
};

GPUNET_REFUSED_LAYER(AvgPool3d, "AvgPool3d<2>, or AvgPool3d<3, nn::Stride<2>>", 0)

}  // namespace gpunet::nn
