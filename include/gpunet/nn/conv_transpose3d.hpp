// The three-dimensional transposed convolution layer.
#pragma once

#include <gpunet/nn/convolution.hpp>
#include <gpunet/nn/options.hpp>

namespace gpunet::nn {

// Transposed convolution, as torch.nn.ConvTranspose3d(in, Out, Kernel, stride, padding,
// output_padding): x [in, d, h, w], W [in, Out, Kernel, Kernel, Kernel], b [Out], y [Out, od, oh,
// ow] with od = (d - 1) stride - 2 padding + Kernel + OutputPadding. Options as in Conv3d.
template <index_t Out = dyn, index_t Kernel = dyn, class... Options>
class ConvTranspose3d : detail::Convolution<Out, Kernel, Options...> {
  using Base = detail::Convolution<Out, Kernel, Options...>;
  using Planes = typename Base::Planes;
  using Rows = typename Base::Rows;
  using Columns = typename Base::Columns;
  using Strides = typename Base::Strides;
  using Paddings = typename Base::Paddings;
  using MorePlanes = Dim<Base::OutputPaddings::planes>;
  using MoreRows = Dim<Base::OutputPaddings::rows>;
  using MoreColumns = Dim<Base::OutputPaddings::columns>;
  static constexpr bool bias = Base::bias;
  static_assert(
      ((detail::is_convolution_option<Options, 3> ||
        detail::is_dimension_option<OutputPadding, 3, Options>)&&...),
      "gpunet::nn::ConvTranspose3d: an option is none of KernelHeight<...>, KernelWidth<...>, "
      "Stride<...>, Padding<...>, OutputPadding<...>, Dilation<...>, Groups<...> and Bias<...> "
      "with one number or three");
  static_assert(
      Base::has_sizes(),
      "gpunet::nn::ConvTranspose3d: output channels and kernel size have to be at least 1");
  static_assert(Base::has_stride(), "gpunet::nn::ConvTranspose3d: the stride has to be at least 1");
  static_assert(Base::has_dilation(),
                "gpunet::nn::ConvTranspose3d: the dilation has to be at least 1");
  static_assert(Base::output_padding_is_possible(),
                "gpunet::nn::ConvTranspose3d: OutputPadding is not smaller than the stride or the "
                "dilation (elements that no window reaches), use a smaller one");
  static_assert(Base::has_groups(),
                "gpunet::nn::ConvTranspose3d: the groups do not divide the output channels, use "
                "Groups that divide the channels of input and output");

 public:
  constexpr ConvTranspose3d() = default;
  constexpr explicit ConvTranspose3d(index_t out, index_t kernel, index_t stride = 1,
                                     index_t padding = 0,
                                     Bias<bias> = {}) requires(Out == dyn && Kernel == dyn &&
                                                               Strides::rows == dyn &&
                                                               Paddings::rows == dyn)
      : Base(out, kernel, stride, padding) {}

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 4,
                  "gpunet::nn::ConvTranspose3d: the input has to have rank 4 [channels, depth, "
                  "height, width], give Input four sizes");
    if constexpr (In::rank == 4) {
      const auto depth = in.template at<1>();
      const auto height = in.template at<2>();
      const auto width = in.template at<3>();
      static_assert(Base::may_group(decltype(in.template at<0>()){}),
                    "gpunet::nn::ConvTranspose3d: the groups do not divide the input channels, use "
                    "Groups that divide the channels of input and output");
      static_assert(Planes::may_be_transposed(decltype(depth){}, MorePlanes{}) &&
                        Rows::may_be_transposed(decltype(height){}, MoreRows{}) &&
                        Columns::may_be_transposed(decltype(width){}, MoreColumns{}),
                    "gpunet::nn::ConvTranspose3d: the padding leaves no output, use less Padding");
      this->check_numbers("ConvTranspose3d");
      this->check_groups("ConvTranspose3d", in.template at<0>());
      require_possible_volume("ConvTranspose3d", in.template at<0>(), {depth, height, width}, 0);
      const auto out_depth = this->planes().transposed(depth, MorePlanes{});
      const auto out_height = this->rows().transposed(height, MoreRows{});
      const auto out_width = this->columns().transposed(width, MoreColumns{});
      require(out_depth > 0 && out_height > 0 && out_width > 0,
              "gpunet::nn::ConvTranspose3d: the output would have ", index_t{out_depth}, " x ",
              index_t{out_height}, " x ", index_t{out_width},
              " voxels (want at least 1 x 1 x 1), use less Padding");
      require_possible_volume("ConvTranspose3d", this->out_, {out_depth, out_height, out_width}, 0);
      return Shape(this->out_, out_depth, out_height, out_width);
    }
  }

  template <class In>
  constexpr auto parameters(In in) const {
    return this->weight_and_bias(in.template at<0>(), this->out_, 3);
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const Sizes out = output(in).sizes();
    return this->template append_volume<true>(builder, x, in.sizes(), out, parameters(in));
  }
};

ConvTranspose3d(index_t, index_t, index_t = 1, index_t = 0)
    ->ConvTranspose3d<dyn, dyn, Stride<dyn>, Padding<dyn>>;
template <bool has>
ConvTranspose3d(index_t, index_t, index_t, index_t, Bias<has>)
    -> ConvTranspose3d<dyn, dyn, Stride<dyn>, Padding<dyn>, Bias<has>>;

GPUNET_REFUSED_LAYER(
    ConvTranspose3d,
    "ConvTranspose3d<16, 3, nn::Stride<2>> (outputs, kernel), or ConvTranspose3d{16, 3, 2, 1} "
    "(outputs, kernel, stride, padding)",
    dyn, dyn)

}  // namespace gpunet::nn
