// The two-dimensional convolution layer.
#pragma once

#include <array>
#include <concepts>

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/nn/parameter_bounds.hpp>
#include <gpunet/ops/conv2d/conv2d.hpp>

namespace gpunet::nn {

// Cross-correlation with square kernels, as torch.nn.Conv2d(in, Out, Kernel, stride, padding): x [in, h, w],
// W [Out, in, Kernel, Kernel], b [Out], y [Out, oh, ow] with oh = (h + 2 padding - Kernel) / stride + 1.
// Conv2d<16, 5, Stride<2>, Padding<3>>, or Conv2d{out, kernel, stride, padding} for run-time sizes. Without b as
// Conv2d<16, 5, Bias<false>> or Conv2d{out, kernel, stride, padding, Bias<false>{}}.
template <index_t Out = dyn, index_t Kernel = dyn, class... Options>
class Conv2d {
  static_assert(((detail::is_window_option<Options> || detail::is_bias<Options>)&&...),
                "gpunet::nn::Conv2d: an option is none of Stride<...>, Padding<...> and Bias<...>");
  static_assert(Out != 0 && Kernel != 0,
                "gpunet::nn::Conv2d: output channels and kernel size have to be at least 1");
  using StrideDim = detail::option_dim<Stride, Stride<1>, Options...>;
  using PaddingDim = detail::option_dim<Padding, Padding<0>, Options...>;
  static constexpr bool bias = detail::has_bias<Options...>;

 public:
  constexpr Conv2d() = default;
  constexpr explicit Conv2d(index_t out, index_t kernel, index_t stride = 1, index_t padding = 0,
                            Bias<bias> = {}) requires(Out == dyn && Kernel == dyn &&
                                                      std::same_as<StrideDim, Dim<dyn>> &&
                                                      std::same_as<PaddingDim, Dim<dyn>>)
      : out_(out), kernel_(kernel), stride_(stride), padding_(padding) {}

  template <class In>
  constexpr auto output(In in) const {
    static_assert(
        In::rank == 3,
        "gpunet::nn::Conv2d: the input has to have rank 3 [channels, height, width], give Input three sizes");
    if constexpr (In::rank == 3) {
      const auto height = in.template at<1>();
      const auto width = in.template at<2>();
      static_assert(window_fits(decltype(height){}, Dim<Kernel>{}, PaddingDim{}) &&
                        window_fits(decltype(width){}, Dim<Kernel>{}, PaddingDim{}),
                    "gpunet::nn::Conv2d: the kernel is larger than the padded image, use a smaller kernel, a "
                    "larger image or Padding");
      check(in.template at<0>(), height, width);
      return Shape(out_, windows(height, kernel_, stride_, padding_), windows(width, kernel_, stride_, padding_));
    }
  }

  template <class In>
  constexpr auto parameters(In in) const {
    const index_t channels = in.template at<0>();
    const index_t fan_in = channels * kernel_ * kernel_;
    const ParameterSpec weight =
        uniform("weight", {out_, channels, kernel_, kernel_}, kaiming_uniform_bound(fan_in));
    if constexpr (bias)
      return std::array{weight, uniform("bias", {out_}, bias_bound(fan_in))};
    else
      return std::array{weight};
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const auto out = output(in);
    const auto channels = in.template at<0>();
    const auto height = in.template at<1>();
    const auto width = in.template at<2>();
    const auto out_height = out.template at<1>();
    const auto out_width = out.template at<2>();
    const Conv2dOp op{{channels, height, width, out_, out_height, out_width, kernel_, stride_, padding_}, bias};
    // Sizes that the compiler knows; 0 for others.
    constexpr Conv2dGeometry known{
        decltype(channels){},  decltype(height){}, decltype(width){}, Dim<Out>{},  decltype(out_height){},
        decltype(out_width){}, Dim<Kernel>{},      StrideDim{},       PaddingDim{}};
    using Geometry = std::conditional_t<may_be_wide(known), WideConv2dGeometry, Conv2dGeometry>;
    return builder.template add<Conv2dOp, Conv2dKernels<Geometry>>(op, x, out.sizes(), parameters(in));
  }

 private:
  // Throws Error for wrong run-time sizes.
  constexpr void check(index_t channels, index_t height, index_t width) const {
    require(out_ > 0 && kernel_ > 0 && stride_ > 0 && padding_ >= 0, "gpunet::nn::Conv2d: ", index_t{out_},
            " output channels, kernel ", index_t{kernel_}, ", stride ", index_t{stride_}, ", padding ",
            index_t{padding_}, " (want at least 1, 1, 1, 0)");
    require_possible_image("Conv2d", channels, height, width, padding_);
    require(height + 2 * padding_ >= kernel_ && width + 2 * padding_ >= kernel_, "gpunet::nn::Conv2d: the kernel (",
            index_t{kernel_}, ") is larger than the padded image (", height + 2 * padding_, " x ",
            width + 2 * padding_, "), use a smaller kernel, a larger image or Padding");
  }

  [[no_unique_address]] Dim<Out> out_{};
  [[no_unique_address]] Dim<Kernel> kernel_{};
  [[no_unique_address]] StrideDim stride_{};
  [[no_unique_address]] PaddingDim padding_{};
};

Conv2d(index_t, index_t, index_t = 1, index_t = 0)->Conv2d<dyn, dyn, Stride<dyn>, Padding<dyn>>;
template <bool has>
Conv2d(index_t, index_t, index_t, index_t, Bias<has>) -> Conv2d<dyn, dyn, Stride<dyn>, Padding<dyn>, Bias<has>>;

}  // namespace gpunet::nn
