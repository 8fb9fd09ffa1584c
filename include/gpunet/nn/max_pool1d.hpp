// The one-dimensional max pooling layer.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/nn/pooling.hpp>
#include <gpunet/ops/max_pool2d/max_pool2d.hpp>

namespace gpunet::nn {

// Maximum over windows, as torch.nn.MaxPool1d(Kernel, stride, padding): [c, l] -> [c, ol], sizes
// and options as in MaxPool2d.
template <index_t Kernel, class... Options>
class MaxPool1d {
  using Windows = detail::PoolWindows1d<Kernel, Options...>;
  static_assert(
      ((detail::is_window_option<Options, 1> || detail::is_ceil_mode<Options>)&&...),
      "gpunet::nn::MaxPool1d: an option is none of Stride<...>, Padding<...> and CeilMode<...>");
  static_assert(Kernel >= 1 && Kernel <= 1 << 15,
                "gpunet::nn::MaxPool1d: the kernel size has to be 1 to 32768");
  static_assert(Windows::stride > 0, "gpunet::nn::MaxPool1d: the stride has to be at least 1");
  static_assert(Windows::padding <= Kernel / 2,
                "gpunet::nn::MaxPool1d: the padding may be at most half the kernel");

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 2,
                  "gpunet::nn::MaxPool1d: the input has to have rank 2 [channels, length], give "
                  "Input two sizes");
    if constexpr (In::rank == 2) {
      static_assert(Windows::fit(In{}),
                    "gpunet::nn::MaxPool1d: the kernel is larger than the padded length, use a "
                    "smaller kernel, longer inputs or Padding");
      return Windows::output("MaxPool1d", in);
    }
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const auto out = output(in);
    return builder.add(
        MaxPool2dOp{{in.template at<0>(), 1, in.template at<1>(), 1, out.template at<1>(), 1, 1, 0,
                     Kernel, Windows::stride, Windows::padding},
                    detail::has_ceil_mode<Options...>},
        x, out.sizes());
  }
};

GPUNET_REFUSED_LAYER(MaxPool1d, "MaxPool1d<2>, or MaxPool1d<3, nn::Stride<2>>", 0)

}  // namespace gpunet::nn
