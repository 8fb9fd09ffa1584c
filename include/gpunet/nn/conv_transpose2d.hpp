// The two-dimensional transposed convolution layer.
#pragma once

#include <gpunet/nn/convolution.hpp>
#include <gpunet/nn/options.hpp>

namespace gpunet::nn {

// Transposed convolution, as torch.nn.ConvTranspose2d(in, Out, Kernel, stride, padding,
// output_padding): the input gradient of a Conv2d as a layer, which makes images larger. x [in, h,
// w], W [in, Out / groups, Kernel, Kernel], b [Out], y [Out, oh, ow] with oh = (h - 1) stride - 2
// padding + dilation (Kernel - 1) + output_padding + 1. ConvTranspose2d<16, 2, Stride<2>> doubles
// height and width, and so does ConvTranspose2d<16, 3, Stride<2>, Padding<1>, OutputPadding<1>>.
// Options and run-time sizes as in Conv2d, without PaddingSame.
template <index_t Out = dyn, index_t Kernel = dyn, class... Options>
class ConvTranspose2d : detail::Convolution<Out, Kernel, Options...> {
  using Base = detail::Convolution<Out, Kernel, Options...>;
  using Rows = typename Base::Rows;
  using MoreRows = Dim<Base::OutputPaddings::rows>;
  using Columns = typename Base::Columns;
  using Strides = typename Base::Strides;
  using Paddings = typename Base::Paddings;
  using MoreColumns = Dim<Base::OutputPaddings::columns>;
  static constexpr bool bias = Base::bias;
  static_assert(((detail::is_convolution_option<Options, 2> ||
                  detail::is_dimension_option<OutputPadding, 2, Options>)&&...),
                "gpunet::nn::ConvTranspose2d: an option is none of KernelWidth<...>, Stride<...>, "
                "Padding<...>, OutputPadding<...>, Dilation<...>, Groups<...> and Bias<...>");
  static_assert(
      Base::has_sizes(),
      "gpunet::nn::ConvTranspose2d: output channels and kernel size have to be at least 1");
  static_assert(Base::has_stride(), "gpunet::nn::ConvTranspose2d: the stride has to be at least 1");
  static_assert(Base::has_dilation(),
                "gpunet::nn::ConvTranspose2d: the dilation has to be at least 1");
  static_assert(Base::output_padding_is_possible(),
                "gpunet::nn::ConvTranspose2d: OutputPadding is not smaller than the stride or the "
                "dilation (elements that no window reaches), use a smaller one");
  static_assert(Base::has_groups(),
                "gpunet::nn::ConvTranspose2d: the groups do not divide the output channels, use "
                "Groups that divide the channels of input and output");

 public:
  constexpr ConvTranspose2d() = default;
  constexpr explicit ConvTranspose2d(index_t out, index_t kernel, index_t stride = 1,
                                     index_t padding = 0,
                                     Bias<bias> = {}) requires(Out == dyn && Kernel == dyn &&
                                                               Strides::rows == dyn &&
                                                               Paddings::rows == dyn)
      : Base(out, kernel, stride, padding) {}

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 3,
                  "gpunet::nn::ConvTranspose2d: the input has to have rank 3 [channels, height, "
                  "width], give Input three sizes");
    if constexpr (In::rank == 3) {
      const auto height = in.template at<1>();
      const auto width = in.template at<2>();
      static_assert(Base::may_group(decltype(in.template at<0>()){}),
                    "gpunet::nn::ConvTranspose2d: the groups do not divide the input channels, use "
                    "Groups that divide the channels of input and output");
      static_assert(Rows::may_be_transposed(decltype(height){}, MoreRows{}) &&
                        Columns::may_be_transposed(decltype(width){}, MoreColumns{}),
                    "gpunet::nn::ConvTranspose2d: the padding leaves no output, use less Padding");
      this->check_numbers("ConvTranspose2d");
      this->check_groups("ConvTranspose2d", in.template at<0>());
      require_possible_image("ConvTranspose2d", in.template at<0>(), height, width, 0);
      const auto out_height = this->rows().transposed(height, MoreRows{});
      const auto out_width = this->columns().transposed(width, MoreColumns{});
      require(out_height > 0 && out_width > 0,
              "gpunet::nn::ConvTranspose2d: the output would have ", index_t{out_height}, " x ",
              index_t{out_width}, " pixels (want at least 1 x 1), use less Padding");
      require_possible_image("ConvTranspose2d", this->out_, out_height, out_width, 0);
      return Shape(this->out_, out_height, out_width);
    }
  }

  template <class In>
  constexpr auto parameters(In in) const {
    return this->weight_and_bias(in.template at<0>(), this->out_, 2);
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const auto out = output(in);
    return this->template append<false, true>(
        builder, x,
        this->sizes(in.template at<0>(), out.template at<1>(), out.template at<2>(),
                    in.template at<1>(), in.template at<2>()),
        out.sizes(), parameters(in));
  }
};

ConvTranspose2d(index_t, index_t, index_t = 1, index_t = 0)
    ->ConvTranspose2d<dyn, dyn, Stride<dyn>, Padding<dyn>>;
template <bool has>
ConvTranspose2d(index_t, index_t, index_t, index_t, Bias<has>)
    -> ConvTranspose2d<dyn, dyn, Stride<dyn>, Padding<dyn>, Bias<has>>;

GPUNET_REFUSED_LAYER(
    ConvTranspose2d,
    "ConvTranspose2d<16, 3, nn::Stride<2>> (outputs, kernel), or ConvTranspose2d{16, 3, 2, 1} "
    "(outputs, kernel, stride, padding)",
    dyn, dyn)

}  // namespace gpunet::nn
