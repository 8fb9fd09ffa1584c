// The three-dimensional convolution layer.
#pragma once

#include <algorithm>

#include <gpunet/nn/convolution.hpp>
#include <gpunet/nn/options.hpp>

namespace gpunet::nn {

// Cross-correlation, as torch.nn.Conv3d(in, Out, Kernel, stride, padding): x [in, d, h, w], W [Out,
// in, Kernel, Kernel, Kernel], b [Out], y [Out, od, oh, ow] with od = (d + 2 padding - Kernel) /
// stride + 1. Options as in Conv2d; numbers for each dimension are Stride<Planes, Rows, Columns>,
// and the kernel has KernelHeight<h> and KernelWidth<w>: Conv3d<16, 1, KernelHeight<3>,
// KernelWidth<3>, Padding<0, 1, 1>> is a convolution of single planes.
template <index_t Out = dyn, index_t Kernel = dyn, class... Options>
class Conv3d : detail::Convolution<Out, Kernel, Options...> {
  using Base = detail::Convolution<Out, Kernel, Options...>;
  using Planes = typename Base::Planes;
  using Rows = typename Base::Rows;
  using Columns = typename Base::Columns;
  using Strides = typename Base::Strides;
  using Paddings = typename Base::Paddings;
  static constexpr bool bias = Base::bias;
  static_assert(((detail::is_convolution_option<Options, 3> || detail::is_padding_same<Options> ||
                  detail::is_padding_mode<Options>)&&...),
                "gpunet::nn::Conv3d: an option is none of KernelHeight<...>, KernelWidth<...>, "
                "Stride<...>, Padding<...>, PaddingSame, PaddingReflect, PaddingReplicate, "
                "PaddingCircular, Dilation<...>, Groups<...> and Bias<...> with one number or "
                "three");
  static_assert(Base::has_one_mode(),
                "gpunet::nn::Conv3d: two modes of padding, give one of PaddingReflect, "
                "PaddingReplicate and PaddingCircular");
  static_assert(Base::has_sizes(),
                "gpunet::nn::Conv3d: output channels and kernel size have to be at least 1");
  static_assert(Base::has_stride(), "gpunet::nn::Conv3d: the stride has to be at least 1");
  static_assert(Base::has_dilation(), "gpunet::nn::Conv3d: the dilation has to be at least 1");
  static_assert(Base::same_is_possible(),
                "gpunet::nn::Conv3d: PaddingSame with a stride or with Padding (the output is as "
                "large as the input), use one of them");
  static_assert(Base::has_groups(),
                "gpunet::nn::Conv3d: the groups do not divide the output channels, use Groups that "
                "divide the channels of input and output");

 public:
  constexpr Conv3d() = default;
  constexpr explicit Conv3d(index_t out, index_t kernel, index_t stride = 1, index_t padding = 0,
                            Bias<bias> = {}) requires(Out == dyn && Kernel == dyn &&
                                                      Strides::rows == dyn && Paddings::rows == dyn)
      : Base(out, kernel, stride, padding) {}

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 4,
                  "gpunet::nn::Conv3d: the input has to have rank 4 [channels, depth, height, "
                  "width], give Input four sizes");
    if constexpr (In::rank == 4) {
      const auto depth = in.template at<1>();
      const auto height = in.template at<2>();
      const auto width = in.template at<3>();
      static_assert(Base::may_group(decltype(in.template at<0>()){}),
                    "gpunet::nn::Conv3d: the groups do not divide the input channels, use Groups "
                    "that divide the channels of input and output");
      static_assert(Planes::may_fit(decltype(depth){}) && Rows::may_fit(decltype(height){}) &&
                        Columns::may_fit(decltype(width){}),
                    "gpunet::nn::Conv3d: the kernel is larger than the padded volume, use a "
                    "smaller kernel, a larger volume or Padding");
      static_assert(Planes::may_pad(Base::padding_mode, decltype(depth){}) &&
                        Rows::may_pad(Base::padding_mode, decltype(height){}) &&
                        Columns::may_pad(Base::padding_mode, decltype(width){}),
                    "gpunet::nn::Conv3d: the padding is larger than its mode allows (less than the "
                    "volume for PaddingReflect, at most the volume for PaddingCircular), use less "
                    "padding or a larger volume");
      check(in.template at<0>(), {depth, height, width});
      return Shape(this->out_, this->planes().outputs(depth), this->rows().outputs(height),
                   this->columns().outputs(width));
    }
  }

  template <class In>
  constexpr auto parameters(In in) const {
    return this->weight_and_bias(this->out_, in.template at<0>(), 3);
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const Sizes out = output(in).sizes();
    return this->template append_volume<false>(builder, x, in.sizes(), out, parameters(in));
  }

 private:
  // Throws Error for wrong run-time sizes.
  constexpr void check(index_t channels, const Sizes& volume) const {
    this->check_numbers("Conv3d");
    this->check_groups("Conv3d", channels);
    const auto planes = this->planes();
    const auto rows = this->rows();
    const auto columns = this->columns();
    const index_t before = planes.before(), above = rows.before(), left = columns.before();
    require_possible_volume("Conv3d", channels, volume, std::max({before, above, left}));
    require(planes.fits(volume[0]) && rows.fits(volume[1]) && columns.fits(volume[2]),
            "gpunet::nn::Conv3d: the kernel (", index_t{planes.reach()}, " x ",
            index_t{rows.reach()}, " x ", index_t{columns.reach()},
            ") is larger than the padded volume (", volume[0] + 2 * before, " x ",
            volume[1] + 2 * above, " x ", volume[2] + 2 * left,
            "), use a smaller kernel, a larger volume or Padding");
    this->check_padding("gpunet::nn::Conv3d", {channels, volume[0], volume[1], volume[2]});
  }
};

Conv3d(index_t, index_t, index_t = 1, index_t = 0)->Conv3d<dyn, dyn, Stride<dyn>, Padding<dyn>>;
template <bool has>
Conv3d(index_t, index_t, index_t, index_t, Bias<has>)
    -> Conv3d<dyn, dyn, Stride<dyn>, Padding<dyn>, Bias<has>>;

GPUNET_REFUSED_LAYER(Conv3d,
                     "Conv3d<16, 3, nn::Stride<2>> (outputs, kernel), or Conv3d{16, 3, 2, 1} "
                     "(outputs, kernel, stride, padding)",
                     dyn, dyn)

}  // namespace gpunet::nn
