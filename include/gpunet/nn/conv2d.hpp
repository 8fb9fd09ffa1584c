// The two-dimensional convolution layer.
#pragma once

#include <array>
#include <concepts>

#include <gpunet/nn/convolution.hpp>
#include <gpunet/nn/options.hpp>

namespace gpunet::nn {

// Cross-correlation, as torch.nn.Conv2d(in, Out, Kernel, stride, padding): x [in, h, w], W [Out,
// in, Kernel, Kernel], b [Out], y [Out, oh, ow] with oh = (h + 2 padding - Kernel) / stride + 1.
// Conv2d<16, 5, Stride<2>, Padding<3>>, or Conv2d{out, kernel, stride, padding} for run-time sizes.
// Without b as Conv2d<16, 5, Bias<false>> or Conv2d{out, kernel, stride, padding, Bias<false>{}}.
//
// Groups<g>: W is [Out, in / g, Kernel, Kernel]; Conv2d<32, 3, Groups<32>> of 32 channels is
// depthwise. Dilation<d>: a kernel spans d (Kernel - 1) + 1 pixels. KernelWidth<w>, Stride<Rows,
// Columns>, Padding<Rows, Columns> and Dilation<Rows, Columns> are rectangular. PaddingSame:
// oh = h, ow = w, stride 1. With PaddingReflect, PaddingReplicate or PaddingCircular the
// padding has elements of the image: a node before the convolution copies them.
template <index_t Out = dyn, index_t Kernel = dyn, class... Options>
class Conv2d : detail::Convolution<Out, Kernel, Options...> {
  using Base = detail::Convolution<Out, Kernel, Options...>;
  using Rows = typename Base::Rows;
  using Columns = typename Base::Columns;
  using Strides = typename Base::Strides;
  using Paddings = typename Base::Paddings;
  using Dilations = typename Base::Dilations;
  using Base::out_;
  static constexpr index_t groups = Base::groups, kernel_width = Base::kernel_width;
  static constexpr bool bias = Base::bias, same = Base::same;
  static_assert(((detail::is_convolution_option<Options, 2> || detail::is_padding_same<Options> ||
                  detail::is_padding_mode<Options>)&&...),
                "gpunet::nn::Conv2d: an option is none of KernelWidth<...>, Stride<...>, "
                "Padding<...>, PaddingSame, PaddingReflect, PaddingReplicate, PaddingCircular, "
                "Dilation<...>, Groups<...> and Bias<...>");
  static_assert(Base::has_sizes(),
                "gpunet::nn::Conv2d: output channels and kernel size have to be at least 1");
  static_assert(Base::has_stride(), "gpunet::nn::Conv2d: the stride has to be at least 1");
  static_assert(Base::has_dilation(), "gpunet::nn::Conv2d: the dilation has to be at least 1");
  static_assert(Base::same_is_possible(),
                "gpunet::nn::Conv2d: PaddingSame with a stride or with Padding (the output is as "
                "large as the input), use one of them");
  static_assert(Base::has_one_mode(),
                "gpunet::nn::Conv2d: two modes of padding, give one of PaddingReflect, "
                "PaddingReplicate and PaddingCircular");
  static_assert(Base::has_groups(),
                "gpunet::nn::Conv2d: the groups do not divide the output channels, use Groups that "
                "divide the channels of input and output");

 public:
  constexpr Conv2d() = default;
  constexpr explicit Conv2d(index_t out, index_t kernel, index_t stride = 1, index_t padding = 0,
                            Bias<bias> = {}) requires(Out == dyn && Kernel == dyn &&
                                                      Strides::rows == dyn && Paddings::rows == dyn)
      : Base(out, kernel, stride, padding) {}

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 3,
                  "gpunet::nn::Conv2d: the input has to have rank 3 [channels, height, width], "
                  "give Input three sizes");
    if constexpr (In::rank == 3) {
      const auto height = in.template at<1>();
      const auto width = in.template at<2>();
      static_assert(Base::may_group(decltype(in.template at<0>()){}),
                    "gpunet::nn::Conv2d: the groups do not divide the input channels, use Groups "
                    "that divide the channels of input and output");
      static_assert(
          Rows::may_fit(decltype(height){}) && Columns::may_fit(decltype(width){}),
          "gpunet::nn::Conv2d: the kernel is larger than the padded image, use a smaller kernel, a "
          "larger image or Padding");
      static_assert(Rows::may_pad(Base::padding_mode, decltype(height){}) &&
                        Columns::may_pad(Base::padding_mode, decltype(width){}),
                    "gpunet::nn::Conv2d: the padding is larger than its mode allows (less than the "
                    "image for PaddingReflect, at most the image for PaddingCircular), use less "
                    "padding or a larger image");
      check(in.template at<0>(), height, width);
      return Shape(out_, this->rows().outputs(height), this->columns().outputs(width));
    }
  }

  template <class In>
  constexpr auto parameters(In in) const {
    return this->weight_and_bias(out_, in.template at<0>(), 2);
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const auto out = output(in);
    return this->template append<false, false>(
        builder, x,
        this->sizes(in.template at<0>(), in.template at<1>(), in.template at<2>(),
                    out.template at<1>(), out.template at<2>()),
        out.sizes(), parameters(in));
  }

 private:
  // Throws Error for wrong run-time sizes.
  constexpr void check(index_t channels, index_t height, index_t width) const {
    this->check_numbers("Conv2d");
    this->check_groups("Conv2d", channels);
    const auto rows = this->rows();
    const auto columns = this->columns();
    const index_t above = rows.before(), left = columns.before();
    require_possible_image("Conv2d", channels, height, width, std::max(above, left));
    const bool fits = rows.fits(height) && columns.fits(width);
    if constexpr (kernel_width == Kernel && Dilations::rows == Dilations::columns)
      require(fits, "gpunet::nn::Conv2d: the kernel (", index_t{rows.reach()},
              ") is larger than the padded image (", height + 2 * above, " x ", width + 2 * left,
              "), use a smaller kernel, a larger image or Padding");
    else
      require(fits, "gpunet::nn::Conv2d: the kernel (", index_t{rows.reach()}, " x ",
              index_t{columns.reach()}, ") is larger than the padded image (", height + 2 * above,
              " x ", width + 2 * left, "), use a smaller kernel, a larger image or Padding");
    this->check_padding("gpunet::nn::Conv2d", {channels, height, width});
  }
};

Conv2d(index_t, index_t, index_t = 1, index_t = 0)->Conv2d<dyn, dyn, Stride<dyn>, Padding<dyn>>;
template <bool has>
Conv2d(index_t, index_t, index_t, index_t, Bias<has>)
    -> Conv2d<dyn, dyn, Stride<dyn>, Padding<dyn>, Bias<has>>;

GPUNET_REFUSED_LAYER(Conv2d,
                     "Conv2d<16, 3, nn::Stride<2>> (outputs, kernel), or Conv2d{16, 3, 2, 1} "
                     "(outputs, kernel, stride, padding)",
                     dyn, dyn)

}  // namespace gpunet::nn
