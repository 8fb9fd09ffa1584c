// Options, sizes and parameters of the convolutions.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <gpunet/core/padding.hpp>
#include <gpunet/device/traits.hpp>
#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/nn/parameter_bounds.hpp>
#include <gpunet/ops/conv2d/conv2d.hpp>
#include <gpunet/ops/conv3d/conv3d.hpp>
#include <gpunet/ops/gather.hpp>

namespace gpunet::nn::detail {

// Whether an option is one of a convolution in this number of dimensions.
template <class Option, index_t dimensions>
inline constexpr bool is_convolution_option =
    is_window_option<Option, dimensions> || is_dimension_option<Dilation, dimensions, Option> ||
    is_option<Groups, Option> || is_bias<Option>;

// Whether it is a PaddingSame.
template <class Option>
inline constexpr bool is_padding_same = std::is_same_v<Option, PaddingSame>;

// The mode of the padding that an option names; constant, which is zeros, for others.
template <class Option>
inline constexpr PadMode padding_mode_of = PadMode::constant;
template <>
inline constexpr PadMode padding_mode_of<PaddingReflect> = PadMode::reflect;
template <>
inline constexpr PadMode padding_mode_of<PaddingReplicate> = PadMode::replicate;
template <>
inline constexpr PadMode padding_mode_of<PaddingCircular> = PadMode::circular;

// Whether an option is a mode of padding.
template <class Option>
inline constexpr bool is_padding_mode = padding_mode_of<Option> != PadMode::constant;

// Appends the padding of a convolution's input, for which can_pad() holds. A convolution without
// padding follows, which prints both.
template <class Builder>
value_t append_padding(Builder& builder, value_t x, const Sizes& in, PadMode mode,
                       std::span<const index_t> paddings) {
  const GatherOp op = GatherOp::padding(GatherOp::Kind::pad, mode, in, paddings);
  builder.enter("padding");
  x = builder.add(op, x, op.output());
  builder.set_padding();
  builder.leave();
  return x;
}

// The windows of a convolution along one dimension; D: dilation.
template <index_t K, index_t S, index_t P, index_t D, bool is_same>
struct ConvDimension {
  [[no_unique_address]] Dim<K> kernel;
  [[no_unique_address]] Dim<S> stride;
  [[no_unique_address]] Dim<P> padding;

  // Returns the number of elements that a window spans.
  constexpr auto reach() const {
    if constexpr (D == 1)
      return kernel;
    else
      return (kernel - Dim<1>{}) * Dim<D>{} + Dim<1>{};
  }
  // Returns the zeros before the first element; those behind the last are as many, or one more.
  constexpr auto before() const {
    if constexpr (is_same)
      return (reach() - Dim<1>{}) / Dim<2>{};
    else
      return padding;
  }
  // Returns the padding behind the last element with PaddingSame, else that of both sides.
  constexpr index_t behind() const {
    const index_t left = before(), span = reach();
    return is_same ? span - 1 - left : left;
  }
  template <index_t E>
  constexpr auto outputs(Dim<E> extent) const {
    if constexpr (is_same)
      return extent;
    else
      return windows(extent, reach(), stride, padding);
  }
  // Return whether a window fits; the first is true for run-time sizes.
  template <index_t E>
  static constexpr bool may_fit(Dim<E> extent) {
    return is_same ||
           window_fits(extent, decltype(std::declval<ConvDimension>().reach()){}, Dim<P>{});
  }
  constexpr bool fits(index_t extent) const { return is_same || extent + 2 * padding >= reach(); }

  // Returns the outputs of the transposed convolution: (extent - 1) stride - 2
  // padding + reach + more.
  template <index_t E, index_t More>
  constexpr auto transposed(Dim<E> extent, Dim<More> more) const {
    return (extent - Dim<1>{}) * stride + reach() + more - padding - padding;
  }
  // Returns whether they are at least 1; true for run-time sizes.
  template <index_t E, index_t More>
  static constexpr bool may_be_transposed(Dim<E>, Dim<More>) {
    return E == dyn || K == dyn || S == dyn || P == dyn ||
           (E - 1) * S - P + D * (K - 1) + More >= P;
  }

  // Returns whether a mode can fill the padding; the first is true for run-time sizes.
  template <index_t E>
  static constexpr bool may_pad(PadMode mode, Dim<E> extent) {
    if constexpr (E == dyn || K == dyn || P == dyn)
      return true;
    else
      return ConvDimension{}.can_pad(mode, extent);
  }
  constexpr bool can_pad(PadMode mode, index_t extent) const {
    return mode == PadMode::constant || gpunet::can_pad(mode, extent, before(), behind());
  }

  constexpr ConvAxis axis(index_t size, index_t outputs) const {
    return {size, outputs, kernel, stride, before(), D};
  }
};

// The common part of the convolutions: options, and numbers that may be run-time sizes.
template <index_t Out, index_t Kernel, class... Options>
class Convolution {
 protected:
  using Strides = option<Stride, Stride<1>, Options...>;
  using Paddings = option<Padding, Padding<0>, Options...>;
  using Dilations = option<Dilation, Dilation<1>, Options...>;
  using OutputPaddings = option<OutputPadding, OutputPadding<0>, Options...>;
  // The kernel size, or that of an option.
  template <template <index_t...> class Option>
  static constexpr index_t kernel_size = [] {
    if constexpr ((is_option<Option, Options> || ...))
      return index_t{option_dim<Option, Option<1>, Options...>{}};
    else
      return Kernel;
  }();
  static constexpr index_t kernel_height = kernel_size<KernelHeight>,
                           kernel_width = kernel_size<KernelWidth>;
  static constexpr index_t groups = option_dim<Groups, Groups<1>, Options...>{};
  static constexpr bool bias = has_bias<Options...>, same = (is_padding_same<Options> || ...);
  static constexpr PadMode padding_mode = [] {
    PadMode mode = PadMode::constant;
    ((is_padding_mode<Options> ? void(mode = padding_mode_of<Options>) : void()), ...);
    return mode;
  }();
  using Planes = ConvDimension<Kernel, Strides::planes, Paddings::planes, Dilations::planes, same>;
  using Rows = ConvDimension<kernel_height, Strides::rows, Paddings::rows, Dilations::rows, same>;
  using Columns =
      ConvDimension<kernel_width, Strides::columns, Paddings::columns, Dilations::columns, same>;

  // Returns whether f(number) holds for the numbers of all dimensions.
  template <class Numbers>
  static constexpr bool all_of(Numbers, bool (*f)(index_t)) {
    return f(Numbers::planes) && f(Numbers::rows) && f(Numbers::columns);
  }
  static constexpr bool is_not_zero(index_t n) { return n != 0; }
  static constexpr bool is_one(index_t n) { return n == 1; }
  static constexpr bool is_positive(index_t n) { return n > 0; }

  // Return whether the options of all dimensions are possible.
  static constexpr bool has_sizes() {
    return Out != 0 && Kernel != 0 && kernel_height != 0 && kernel_width != 0;
  }
  static constexpr bool has_stride() { return all_of(Strides{}, is_not_zero); }
  static constexpr bool has_dilation() { return all_of(Dilations{}, is_positive); }
  static constexpr bool has_groups() { return groups > 0 && (Out == dyn || Out % groups == 0); }
  static constexpr bool has_one_mode() { return (is_padding_mode<Options> + ... + 0) <= 1; }
  static constexpr bool same_is_possible() {
    return !same || (all_of(Strides{}, is_one) && !(is_option<Padding, Options> || ...));
  }
  // Returns whether OutputPadding is smaller than the stride or the dilation, as PyTorch demands.
  static constexpr bool output_padding_is_possible() {
    const auto is_possible = [](index_t more, index_t stride, index_t dilation) {
      return more >= 0 && more < std::max(stride, dilation);
    };
    return is_possible(OutputPaddings::planes, Strides::planes, Dilations::planes) &&
           is_possible(OutputPaddings::rows, Strides::rows, Dilations::rows) &&
           is_possible(OutputPaddings::columns, Strides::columns, Dilations::columns);
  }
  // Returns whether the groups divide the channels; true for a run-time number.
  template <index_t C>
  static constexpr bool may_group(Dim<C>) {
    return C == dyn || C % groups == 0;
  }

  constexpr Convolution() = default;
  constexpr Convolution(index_t out, index_t kernel, index_t stride, index_t padding)
      : out_(out), kernel_(kernel), stride_(stride), padding_(padding) {}

  constexpr Planes planes() const {
    return {kernel_, pick<Strides::planes>(stride_), pick<Paddings::planes>(padding_)};
  }
  constexpr Rows rows() const { return {pick<kernel_height>(kernel_), stride_, padding_}; }
  constexpr Columns columns() const {
    return {pick<kernel_width>(kernel_), pick<Strides::columns>(stride_),
            pick<Paddings::columns>(padding_)};
  }

  // Throw Error for wrong run-time numbers.
  constexpr void check_numbers(std::string_view layer) const {
    require(out_ > 0 && kernel_ > 0 && stride_ > 0 && padding_ >= 0, "gpunet::nn::", layer, ": ",
            index_t{out_}, " output channels, kernel ", index_t{kernel_}, ", stride ",
            index_t{stride_}, ", padding ", index_t{padding_}, " (want at least 1, 1, 1, 0)");
  }
  constexpr void check_groups(std::string_view layer, index_t channels) const {
    require(channels % groups == 0 && out_ % groups == 0, "gpunet::nn::", layer, ": ", groups,
            " groups of ", channels, " input and ", index_t{out_},
            " output channels (each group has as many of them as another), use Groups that divide "
            "both");
  }

  // Throws Error for run-time sizes that the mode cannot pad; `in` begins with the channels.
  constexpr void check_padding(std::string_view where, const Sizes& in) const {
    const auto paddings = this->paddings();
    const auto some = std::span(paddings).first(2 * static_cast<std::size_t>(in.rank() - 1));
    if (padding_mode != PadMode::constant && !can_pad(padding_mode, in, some)) [[unlikely]]
      gpunet::detail::refuse_padding(where, padding_mode, in, some);
  }
  // Returns the padding of all dimensions: left, right, top, bottom, front, back.
  constexpr std::array<index_t, 6> paddings() const {
    return {columns().before(), columns().behind(), rows().before(),
            rows().behind(),    planes().before(),  planes().behind()};
  }

  // The sizes of a convolution and of its input. A transposed one has them the other way round: the
  // channels, height and width that it reads are its outputs.
  template <class C, class H, class W, class OutHeight, class OutWidth>
  struct ConvolutionSizes {
    C channels;
    H height;
    W width;
    OutHeight out_height;
    OutWidth out_width;

    constexpr Conv2dGeometry geometry(const Convolution& of, bool is_row, bool transposed) const {
      Conv2dGeometry g{channels, of.out_, groups, {}, of.columns().axis(width, out_width)};
      if (!is_row) g.rows = of.rows().axis(height, out_height);
      if (transposed) std::swap(g.in_channels, g.out_channels);
      if (padding_mode != PadMode::constant) {
        const auto [left, right, top, bottom, front, back] = of.paddings();
        g.columns = g.columns.padded_by(left, right);
        if (!is_row) g.rows = g.rows.padded_by(top, bottom);
      }
      return g;
    }
    Sizes in(bool is_row) const {
      return is_row ? Sizes{channels, width} : Sizes{channels, height, width};
    }
  };

  template <class C, class H, class W, class OutHeight, class OutWidth>
  static constexpr ConvolutionSizes<C, H, W, OutHeight, OutWidth> sizes(C channels, H height,
                                                                        W width,
                                                                        OutHeight out_height,
                                                                        OutWidth out_width) {
    return {channels, height, width, out_height, out_width};
  }

  // Appends the op for inputs [channels, height, width], or of one row [channels, width].
  template <bool is_row, bool transposed, class Builder, class C, class H, class W, class OutHeight,
            class OutWidth, class Parameters>
  value_t append(Builder& builder, value_t x,
                 const ConvolutionSizes<C, H, W, OutHeight, OutWidth>& sizes, const Sizes& out,
                 const Parameters& parameters) const {
    // Sizes that the compiler knows; 0 for others.
    constexpr Conv2dGeometry known = ConvolutionSizes<C, H, W, OutHeight, OutWidth>{}.geometry(
        Convolution(), is_row, transposed);
    // The compiled library has kernels for few channels where they make programs smaller.
    constexpr bool for_any =
        GPUNET_COMPILED && !DeviceTraits<typename Builder::device_type>::unrolls_sizes;
    using Geometry =
        std::conditional_t<for_any || may_be_wide(known), WideConv2dGeometry, Conv2dGeometry>;
    Conv2dOp op{sizes.geometry(*this, is_row, transposed), bias, transposed, same};
    if constexpr (padding_mode != PadMode::constant) {
      const std::array all = paddings();
      op.padding_mode = padding_mode;
      op.padded = {static_cast<std::int32_t>(all[2]), static_cast<std::int32_t>(all[0])};
      x = append_padding(builder, x, sizes.in(is_row), padding_mode,
                         std::span(all).first(is_row ? 2 : 4));
    }
    return builder.template add<Conv2dOp, Conv2dKernels<Geometry>>(op, x, out, parameters);
  }

  // Appends the op of three dimensions for inputs [channels, depth, height, width].
  template <bool transposed, class Builder, class Parameters>
  value_t append_volume(Builder& builder, value_t x, const Sizes& in, const Sizes& out,
                        const Parameters& parameters) const {
    // A transposed convolution reads its outputs, see ConvolutionSizes.
    const Sizes &from = transposed ? out : in, &to = transposed ? in : out;
    const index_t kernel = planes().kernel;
    Conv3dOp op{planes().axis(from[1], to[1]),
                {from[0] * kernel, to[0], groups, rows().axis(from[2], to[2]),
                 columns().axis(from[3], to[3])},
                bias,
                transposed,
                same};
    if constexpr (padding_mode != PadMode::constant) {
      const std::array all = paddings();
      const auto [left, right, top, bottom, front, back] = all;
      op.planes = op.planes.padded_by(front, back);
      op.plane.rows = op.plane.rows.padded_by(top, bottom);
      op.plane.columns = op.plane.columns.padded_by(left, right);
      op.padding_mode = padding_mode;
      op.padded = {static_cast<std::int32_t>(front), static_cast<std::int32_t>(top),
                   static_cast<std::int32_t>(left)};
      x = append_padding(builder, x, in, padding_mode, all);
    }
    return builder.add(op, x, out, parameters);
  }

  // Returns the specification of the parameters: weight [of_first, of_second / groups, kernel...],
  // bias [out].
  constexpr auto weight_and_bias(index_t of_first, index_t of_second, int dimensions) const {
    Sizes sizes{of_first, of_second / groups};
    if (dimensions > 2) sizes.append(planes().kernel);
    if (dimensions > 1) sizes.append(rows().kernel);
    sizes.append(columns().kernel);
    index_t fan_in = 1;
    for (int i = 1; i < sizes.rank(); ++i)
      fan_in *= sizes[i];
    const ParameterSpec weight = uniform("weight", sizes, kaiming_uniform_bound(fan_in));
    if constexpr (bias)
      return std::array{weight, uniform("bias", {out_}, bias_bound(fan_in))};
    else
      return std::array{weight};
  }

  [[no_unique_address]] Dim<Out> out_{};
  [[no_unique_address]] Dim<Kernel> kernel_{};
  [[no_unique_address]] Dim<Strides::rows> stride_{};
  [[no_unique_address]] Dim<Paddings::rows> padding_{};

 private:
  // Returns N, or the number of the rows where that is a run-time number.
  template <index_t N, index_t M>
  static constexpr Dim<N> pick(Dim<M> of_rows) {
    if constexpr (N == dyn)
      return index_t{of_rows};
    else
      return {};
  }
};

}  // namespace gpunet::nn::detail
