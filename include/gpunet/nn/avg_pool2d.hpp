// The two-dimensional average pooling layer.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/ops/avg_pool2d/avg_pool2d.hpp>

namespace gpunet::nn {

// Mean over square windows, as torch.nn.AvgPool2d(Kernel, stride, padding): [c, h, w] -> [c, oh, ow] with
// oh = (h + 2 padding - Kernel) / stride + 1. The stride is the kernel size unless Stride<...> says otherwise. Padding
// counts as zeros, also in the number that a sum is divided by (PyTorch's count_include_pad=True).
template <index_t Kernel, class... Options>
class AvgPool2d {
  static_assert((detail::is_window_option<Options> && ...),
                "gpunet::nn::AvgPool2d: an option is neither Stride<...> nor Padding<...>");
  static_assert(Kernel >= 1, "gpunet::nn::AvgPool2d: the kernel size has to be at least 1");
  using StrideDim = detail::option_dim<Stride, Stride<Kernel>, Options...>;
  using PaddingDim = detail::option_dim<Padding, Padding<0>, Options...>;
  static_assert(StrideDim{} > 0, "gpunet::nn::AvgPool2d: the stride has to be at least 1");
  static_assert(PaddingDim{} <= Kernel / 2, "gpunet::nn::AvgPool2d: the padding may be at most half the kernel");

 public:
  template <class In>
  constexpr auto output(In in) const {
    static_assert(
        In::rank == 3,
        "gpunet::nn::AvgPool2d: the input has to have rank 3 [channels, height, width], give Input three sizes");
    if constexpr (In::rank == 3) {
      const auto height = in.template at<1>();
      const auto width = in.template at<2>();
      static_assert(window_fits(decltype(height){}, Dim<Kernel>{}, PaddingDim{}) &&
                        window_fits(decltype(width){}, Dim<Kernel>{}, PaddingDim{}),
                    "gpunet::nn::AvgPool2d: the kernel is larger than the padded image, use a smaller kernel, a "
                    "larger image or Padding");
      require_possible_image("AvgPool2d", in.template at<0>(), height, width, PaddingDim{});
      require(height + 2 * PaddingDim{} >= Kernel && width + 2 * PaddingDim{} >= Kernel,
              "gpunet::nn::AvgPool2d: the kernel (", Kernel, ") is larger than the padded image (",
              height + 2 * PaddingDim{}, " x ", width + 2 * PaddingDim{},
              "), use a smaller kernel or a larger image");
      return Shape(in.template at<0>(), windows(height, Dim<Kernel>{}, StrideDim{}, PaddingDim{}),
                   windows(width, Dim<Kernel>{}, StrideDim{}, PaddingDim{}));
    }
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const auto out = output(in);
    const auto axis = [](index_t size, index_t outputs) {
      return PoolAxis{size, outputs, Kernel, StrideDim{}, PaddingDim{}};
    };
    return builder.add(AvgPool2dOp{{in.template at<0>(), axis(in.template at<1>(), out.template at<1>()),
                                    axis(in.template at<2>(), out.template at<2>())}},
                       x, out.sizes());
  }
};

}  // namespace gpunet::nn
