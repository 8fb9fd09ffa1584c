// The two-dimensional average pooling layer.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/nn/pooling.hpp>
#include <gpunet/ops/avg_pool2d/avg_pool2d.hpp>

namespace gpunet::nn {

// Mean over windows, as torch.nn.AvgPool2d(Kernel, stride, padding): [c, h, w] -> [c, oh, ow] with
// oh = (h + 2 padding - Kernel) / stride + 1, rounded down, with CeilMode<true> up. The stride is
// the kernel size unless Stride<...> says otherwise. Padding counts as zeros, also in the number
// that a sum is divided by, unless CountIncludePad<false>; the part of a last window of CeilMode
// behind the padding never counts. Rectangular windows: AvgPool2d<3, KernelWidth<2>, Stride<2, 1>,
// Padding<1, 0>>.
template <index_t Kernel, class... Options>
class AvgPool2d {
  using Windows = detail::PoolWindows2d<Kernel, Options...>;
  static_assert(((detail::is_window_option<Options, 2> || detail::is_ceil_mode<Options> ||
                  detail::is_count_include_pad<Options>)&&...),
                "gpunet::nn::AvgPool2d: an option is none of KernelWidth<...>, Stride<...>, "
                "Padding<...>, CeilMode<...> and CountIncludePad<...>");
  static_assert(Windows::has_kernel(),
                "gpunet::nn::AvgPool2d: the kernel size has to be at least 1");
  static_assert(Windows::has_stride(), "gpunet::nn::AvgPool2d: the stride has to be at least 1");
  static_assert(Windows::has_padding(),
                "gpunet::nn::AvgPool2d: the padding may be at most half the kernel");

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 3,
                  "gpunet::nn::AvgPool2d: the input has to have rank 3 [channels, height, width], "
                  "give Input three sizes");
    if constexpr (In::rank == 3) {
      static_assert(Windows::fit(In{}),
                    "gpunet::nn::AvgPool2d: the kernel is larger than the padded image, use a "
                    "smaller kernel, a larger image or Padding");
      return Windows::output("AvgPool2d", in);
    }
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const auto out = output(in);
    constexpr bool counts_padding = detail::counts_padding<Options...>;
    return builder.add(
        AvgPool2dOp{{in.template at<0>(),
                     {in.template at<1>(), out.template at<1>(), Windows::kernel, Windows::stride,
                      Windows::padding, counts_padding},
                     {in.template at<2>(), out.template at<2>(), Windows::kernel_width,
                      Windows::stride_width, Windows::padding_width, counts_padding}}},
        x, out.sizes());
  }
};

GPUNET_REFUSED_LAYER(AvgPool2d, "AvgPool2d<2>, or AvgPool2d<3, nn::Stride<2>>", 0)

}  // namespace gpunet::nn
