// The one-dimensional average pooling layer.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/nn/pooling.hpp>
#include <gpunet/ops/avg_pool2d/avg_pool2d.hpp>

namespace gpunet::nn {

// Mean over windows, as torch.nn.AvgPool1d(Kernel, stride, padding): [c, l] -> [c, ol], sizes and
// options as in AvgPool2d.
template <index_t Kernel, class... Options>
class AvgPool1d {
  using Windows = detail::PoolWindows1d<Kernel, Options...>;
  static_assert(
      ((detail::is_window_option<Options, 1> || detail::is_ceil_mode<Options> ||
        detail::is_count_include_pad<Options>)&&...),
      "gpunet::nn::AvgPool1d: an option is none of Stride<...>, Padding<...>, CeilMode<...> and "
      "CountIncludePad<...>");
  static_assert(Kernel >= 1, "gpunet::nn::AvgPool1d: the kernel size has to be at least 1");
  static_assert(Windows::stride > 0, "gpunet::nn::AvgPool1d: the stride has to be at least 1");
  static_assert(Windows::padding <= Kernel / 2,
                "gpunet::nn::AvgPool1d: the padding may be at most half the kernel");

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 2,
                  "gpunet::nn::AvgPool1d: the input has to have rank 2 [channels, length], give "
                  "Input two sizes");
    if constexpr (In::rank == 2) {
      static_assert(Windows::fit(In{}),
                    "gpunet::nn::AvgPool1d: the kernel is larger than the padded length, use a "
                    "smaller kernel, longer inputs or Padding");
      return Windows::output("AvgPool1d", in);
    }
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const auto out = output(in);
    return builder.add(
        AvgPool2dOp{{in.template at<0>(),
                     {1, 1, 1, 1, 0},
                     {in.template at<1>(), out.template at<1>(), Kernel, Windows::stride,
                      Windows::padding, detail::counts_padding<Options...>}}},
        x, out.sizes());
  }
};

GPUNET_REFUSED_LAYER(AvgPool1d, "AvgPool1d<2>, or AvgPool1d<3, nn::Stride<2>>", 0)

}  // namespace gpunet::nn
