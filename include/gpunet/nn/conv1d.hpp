// The one-dimensional convolution layer.
#pragma once

#include <gpunet/nn/convolution.hpp>
#include <gpunet/nn/options.hpp>

namespace gpunet::nn {

// Cross-correlation of rows, as torch.nn.Conv1d(in, Out, Kernel, stride, padding): x [in, l], W
// [Out, in / groups, Kernel], b [Out], y [Out, ol] with ol = (l + 2 padding - dilation
// (Kernel - 1) - 1) / stride + 1. Options and run-time sizes as in Conv2d: Conv1d<16, 5, Stride<2>,
// Padding<2>, Groups<4>>, Conv1d<16, 3, PaddingSame, Dilation<2>>,
// Conv1d{out, kernel, stride, padding}, Conv1d<16, 3, Padding<1>, PaddingReflect>.
template <index_t Out = dyn, index_t Kernel = dyn, class... Options>
class Conv1d : detail::Convolution<Out, Kernel, Options...> {
  using Base = detail::Convolution<Out, Kernel, Options...>;
  using Columns = typename Base::Columns;
  using Strides = typename Base::Strides;
  using Paddings = typename Base::Paddings;
  static constexpr bool bias = Base::bias;
  static_assert(((detail::is_convolution_option<Options, 1> || detail::is_padding_same<Options> ||
                  detail::is_padding_mode<Options>)&&...),
                "gpunet::nn::Conv1d: an option is none of Stride<...>, Padding<...>, PaddingSame, "
                "PaddingReflect, PaddingReplicate, PaddingCircular, Dilation<...>, Groups<...> and "
                "Bias<...>");
  static_assert(Base::has_sizes(),
                "gpunet::nn::Conv1d: output channels and kernel size have to be at least 1");
  static_assert(Base::has_stride(), "gpunet::nn::Conv1d: the stride has to be at least 1");
  static_assert(Base::has_dilation(), "gpunet::nn::Conv1d: the dilation has to be at least 1");
  static_assert(Base::same_is_possible(),
                "gpunet::nn::Conv1d: PaddingSame with a stride or with Padding (the output is as "
                "long as the input), use one of them");
  static_assert(Base::has_one_mode(),
                "gpunet::nn::Conv1d: two modes of padding, give one of PaddingReflect, "
                "PaddingReplicate and PaddingCircular");
  static_assert(Base::has_groups(),
                "gpunet::nn::Conv1d: the groups do not divide the output channels, use Groups that "
                "divide the channels of input and output");

 public:
  constexpr Conv1d() = default;
  constexpr explicit Conv1d(index_t out, index_t kernel, index_t stride = 1, index_t padding = 0,
                            Bias<bias> = {}) requires(Out == dyn && Kernel == dyn &&
                                                      Strides::rows == dyn && Paddings::rows == dyn)
      : Base(out, kernel, stride, padding) {}

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 2,
                  "gpunet::nn::Conv1d: the input has to have rank 2 [channels, length], give Input "
                  "two sizes");
    if constexpr (In::rank == 2) {
      const auto length = in.template at<1>();
      static_assert(Base::may_group(decltype(in.template at<0>()){}),
                    "gpunet::nn::Conv1d: the groups do not divide the input channels, use Groups "
                    "that divide the channels of input and output");
      static_assert(Columns::may_fit(decltype(length){}),
                    "gpunet::nn::Conv1d: the kernel is larger than the padded length, use a "
                    "smaller kernel, longer inputs or Padding");
      static_assert(Columns::may_pad(Base::padding_mode, decltype(length){}),
                    "gpunet::nn::Conv1d: the padding is larger than its mode allows (less than the "
                    "input for PaddingReflect, at most the input for PaddingCircular), use less "
                    "padding or longer inputs");
      check(in.template at<0>(), length);
      return Shape(this->out_, this->columns().outputs(length));
    }
  }

  template <class In>
  constexpr auto parameters(In in) const {
    return this->weight_and_bias(this->out_, in.template at<0>(), 1);
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const auto out = output(in);
    return this->template append<true, false>(
        builder, x,
        this->sizes(in.template at<0>(), Dim<1>{}, in.template at<1>(), Dim<1>{},
                    out.template at<1>()),
        out.sizes(), parameters(in));
  }

 private:
  // Throws Error for wrong run-time sizes.
  constexpr void check(index_t channels, index_t length) const {
    this->check_numbers("Conv1d");
    this->check_groups("Conv1d", channels);
    const auto columns = this->columns();
    const index_t before = columns.before();
    require_possible_image("Conv1d", channels, 1, length, before);
    require(columns.fits(length), "gpunet::nn::Conv1d: the kernel (", index_t{columns.reach()},
            ") is larger than the padded length (", length + 2 * before,
            "), use a smaller kernel, longer inputs or Padding");
    this->check_padding("gpunet::nn::Conv1d", {channels, length});
  }
};

Conv1d(index_t, index_t, index_t = 1, index_t = 0)->Conv1d<dyn, dyn, Stride<dyn>, Padding<dyn>>;
template <bool has>
Conv1d(index_t, index_t, index_t, index_t, Bias<has>)
    -> Conv1d<dyn, dyn, Stride<dyn>, Padding<dyn>, Bias<has>>;

GPUNET_REFUSED_LAYER(Conv1d,
                     "Conv1d<16, 3, nn::Stride<2>> (outputs, kernel), or Conv1d{16, 3, 2, 1} "
                     "(outputs, kernel, stride, padding)",
                     dyn, dyn)

}  // namespace gpunet::nn
