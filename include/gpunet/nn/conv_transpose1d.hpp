// The one-dimensional transposed convolution layer.
#pragma once

#include <gpunet/nn/convolution.hpp>
#include <gpunet/nn/options.hpp>

namespace gpunet::nn {

// Transposed convolution of rows, as torch.nn.ConvTranspose1d(in, Out, Kernel, stride, padding,
// output_padding): the input gradient of a Conv1d as a layer. x [in, l], W [in, Out / groups,
// Kernel], b [Out], y [Out, ol] with ol = (l - 1) stride - 2 padding + dilation
// (Kernel - 1) + output_padding + 1. Options and run-time sizes as in ConvTranspose2d.
template <index_t Out = dyn, index_t Kernel = dyn, class... Options>
class ConvTranspose1d : detail::Convolution<Out, Kernel, Options...> {
  using Base = detail::Convolution<Out, Kernel, Options...>;
  using Columns = typename Base::Columns;
  using Strides = typename Base::Strides;
  using Paddings = typename Base::Paddings;
  using MoreColumns = Dim<Base::OutputPaddings::columns>;
  static constexpr bool bias = Base::bias;
  static_assert(((detail::is_convolution_option<Options, 1> ||
                  detail::is_dimension_option<OutputPadding, 1, Options>)&&...),
                "gpunet::nn::ConvTranspose1d: an option is none of Stride<...>, Padding<...>, "
                "OutputPadding<...>, Dilation<...>, Groups<...> and Bias<...>");
  static_assert(
      Base::has_sizes(),
      "gpunet::nn::ConvTranspose1d: output channels and kernel size have to be at least 1");
  static_assert(Base::has_stride(), "gpunet::nn::ConvTranspose1d: the stride has to be at least 1");
  static_assert(Base::has_dilation(),
                "gpunet::nn::ConvTranspose1d: the dilation has to be at least 1");
  static_assert(Base::output_padding_is_possible(),
                "gpunet::nn::ConvTranspose1d: OutputPadding is not smaller than the stride or the "
                "dilation (elements that no window reaches), use a smaller one");
  static_assert(Base::has_groups(),
                "gpunet::nn::ConvTranspose1d: the groups do not divide the output channels, use "
                "Groups that divide the channels of input and output");

 public:
  constexpr ConvTranspose1d() = default;
  constexpr explicit ConvTranspose1d(index_t out, index_t kernel, index_t stride = 1,
                                     index_t padding = 0,
                                     Bias<bias> = {}) requires(Out == dyn && Kernel == dyn &&
                                                               Strides::rows == dyn &&
                                                               Paddings::rows == dyn)
      : Base(out, kernel, stride, padding) {}

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 2,
                  "gpunet::nn::ConvTranspose1d: the input has to have rank 2 [channels, length], "
                  "give Input two sizes");
    if constexpr (In::rank == 2) {
      const auto length = in.template at<1>();
      static_assert(Base::may_group(decltype(in.template at<0>()){}),
                    "gpunet::nn::ConvTranspose1d: the groups do not divide the input channels, use "
                    "Groups that divide the channels of input and output");
      static_assert(Columns::may_be_transposed(decltype(length){}, MoreColumns{}),
                    "gpunet::nn::ConvTranspose1d: the padding leaves no output, use less Padding");
      this->check_numbers("ConvTranspose1d");
      this->check_groups("ConvTranspose1d", in.template at<0>());
      require_possible_image("ConvTranspose1d", in.template at<0>(), 1, length, 0);
      const auto out_length = this->columns().transposed(length, MoreColumns{});
      require(out_length > 0, "gpunet::nn::ConvTranspose1d: the output would have length ",
              index_t{out_length}, " (want at least 1), use less Padding");
      require_possible_image("ConvTranspose1d", this->out_, 1, out_length, 0);
      return Shape(this->out_, out_length);
    }
  }

  template <class In>
  constexpr auto parameters(In in) const {
    return this->weight_and_bias(in.template at<0>(), this->out_, 1);
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const auto out = output(in);
    return this->template append<true, true>(
        builder, x,
        this->sizes(in.template at<0>(), Dim<1>{}, out.template at<1>(), Dim<1>{},
                    in.template at<1>()),
        out.sizes(), parameters(in));
  }
};

ConvTranspose1d(index_t, index_t, index_t = 1, index_t = 0)
    ->ConvTranspose1d<dyn, dyn, Stride<dyn>, Padding<dyn>>;
template <bool has>
ConvTranspose1d(index_t, index_t, index_t, index_t, Bias<has>)
    -> ConvTranspose1d<dyn, dyn, Stride<dyn>, Padding<dyn>, Bias<has>>;

GPUNET_REFUSED_LAYER(
    ConvTranspose1d,
    "ConvTranspose1d<16, 3, nn::Stride<2>> (outputs, kernel), or ConvTranspose1d{16, 3, 2, 1} "
    "(outputs, kernel, stride, padding)",
    dyn, dyn)

}  // namespace gpunet::nn
