// The two-dimensional max pooling layer.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/nn/pooling.hpp>
#include <gpunet/ops/max_pool2d/max_pool2d.hpp>

namespace gpunet::nn {

// Maximum over windows, as torch.nn.MaxPool2d(Kernel, stride, padding): [c, h, w] -> [c, oh, ow]
// with oh = (h + 2 padding - Kernel) / stride + 1, rounded down, with CeilMode<true> up. The stride
// is the kernel size unless Stride<...> says otherwise. MaxPool2d<3, Stride<2>, Padding<1>>, or
// rectangular: MaxPool2d<3, KernelWidth<2>, Stride<2, 1>, Padding<1, 0>>.
template <index_t Kernel, class... Options>
class MaxPool2d {
  using Windows = detail::PoolWindows2d<Kernel, Options...>;
  static_assert(((detail::is_window_option<Options, 2> || detail::is_ceil_mode<Options>)&&...),
                "gpunet::nn::MaxPool2d: an option is none of KernelWidth<...>, Stride<...>, "
                "Padding<...> and CeilMode<...>");
  static_assert(Windows::has_kernel(255),
                "gpunet::nn::MaxPool2d: the kernel size has to be 1 to 255");
  static_assert(Windows::has_stride(), "gpunet::nn::MaxPool2d: the stride has to be at least 1");
  static_assert(Windows::has_padding(),
                "gpunet::nn::MaxPool2d: the padding may be at most half the kernel");

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 3,
                  "gpunet::nn::MaxPool2d: the input has to have rank 3 [channels, height, width], "
                  "give Input three sizes");
    if constexpr (In::rank == 3) {
      static_assert(Windows::fit(In{}),
                    "gpunet::nn::MaxPool2d: the kernel is larger than the padded image, use a "
                    "smaller kernel, a larger image or Padding");
      return Windows::output("MaxPool2d", in);
    }
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const auto out = output(in);
    return builder.add(MaxPool2dOp{{in.template at<0>(), in.template at<1>(), in.template at<2>(),
                                    out.template at<1>(), out.template at<2>(), Windows::kernel,
                                    Windows::stride, Windows::padding, Windows::kernel_width,
                                    Windows::stride_width, Windows::padding_width},
                                   Windows::ceil},
                       x, out.sizes());
  }
};

GPUNET_REFUSED_LAYER(MaxPool2d, "MaxPool2d<2>, or MaxPool2d<3, nn::Stride<2>>", 0)

}  // namespace gpunet::nn
