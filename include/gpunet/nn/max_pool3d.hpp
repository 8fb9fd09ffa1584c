// The three-dimensional max pooling layer.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/nn/pooling.hpp>
#include <gpunet/ops/pool3d.hpp>

namespace gpunet::nn {

// Maximum over windows, as torch.nn.MaxPool3d(Kernel, stride, padding): [c, d, h, w] -> [c, od, oh,
// ow], sizes and options as in MaxPool2d. Windows of other than equal sides:
// MaxPool3d<1, KernelHeight<2>, KernelWidth<2>, Stride<1, 2, 2>>.
template <index_t Kernel, class... Options>
class MaxPool3d {
  using Windows = detail::PoolWindows3d<Kernel, Options...>;
  using Planes = typename Windows::Planes;
  using Rows = typename Windows::Rows;
  using Columns = typename Windows::Columns;
  static_assert(((detail::is_window_option<Options, 3> || detail::is_ceil_mode<Options>)&&...),
                "gpunet::nn::MaxPool3d: an option is none of KernelHeight<...>, KernelWidth<...>, "
                "Stride<...>, Padding<...> and CeilMode<...> with one number or three");
  static_assert(Windows::has_kernel(255),
                "gpunet::nn::MaxPool3d: the kernel size has to be 1 to 255");
  static_assert(Windows::has_stride(), "gpunet::nn::MaxPool3d: the stride has to be at least 1");
  static_assert(Windows::has_padding(),
                "gpunet::nn::MaxPool3d: the padding may be at most half the kernel");

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 4,
                  "gpunet::nn::MaxPool3d: the input has to have rank 4 [channels, depth, height, "
                  "width], give Input four sizes");
    if constexpr (In::rank == 4) {
      static_assert(Windows::fit(In{}),
                    "gpunet::nn::MaxPool3d: the kernel is larger than the padded volume, use a "
                    "smaller kernel, a larger volume or Padding");
      return Windows::output("MaxPool3d", in);
    }
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const Sizes from = in.sizes(), to = output(in).sizes();
    const index_t channels = from[0], pixels = to[2] * to[3];
    const Pool2dGeometry planes{
        channels * from[1], from[2],      from[3],       to[2],           to[3],
        Rows::kernel,       Rows::stride, Rows::padding, Columns::kernel, Columns::stride,
        Columns::padding};
    const Pool2dGeometry depth{
        channels,       from[1],         pixels, to[1], pixels, Planes::kernel,
        Planes::stride, Planes::padding, 1,      1,     0};
    return builder.add(MaxPool3dOp{planes, depth, Windows::ceil}, x, to);
  }
};

GPUNET_REFUSED_LAYER(MaxPool3d, "MaxPool3d<2>, or MaxPool3d<3, nn::Stride<2>>", 0)

}  // namespace gpunet::nn
