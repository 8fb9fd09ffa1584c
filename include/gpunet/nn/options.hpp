// Options of layers, in any order: Conv2d<16, 5, Stride<2>, Padding<3>, Bias<false>>.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include <gpunet/core/refused.hpp>
#include <gpunet/core/shape.hpp>

namespace gpunet::nn {

namespace detail {

// Returns number i of some.
template <index_t... N>
constexpr index_t number_at(std::size_t i) {
  const index_t all[] = {N...};
  return all[i];
}

// The numbers of an option with one for all dimensions of an image, or one for each of them:
// planes, rows, columns.
template <index_t... N>
struct DimensionNumbers {
  static constexpr std::size_t count = sizeof...(N);
  static_assert(count <= 3,
                "gpunet::nn: an option has more than three numbers, give one for all "
                "dimensions or one for each");
  static constexpr index_t planes = number_at<N...>(0),
                           rows = number_at<N...>(count > 1 ? count - 2 : 0),
                           columns = number_at<N...>(count - 1);
};

}  // namespace detail

// The height of windows in three dimensions, if it is not the kernel size, which is their depth. In
// PyTorch kernel_size=(depth, N, width).
template <index_t N>
struct KernelHeight {
  using dim = Dim<N>;
};

// The width of windows, if it is not the kernel size: their height, in three dimensions their
// depth. In PyTorch kernel_size=(height, N).
template <index_t N>
struct KernelWidth {
  using dim = Dim<N>;
};

// The distance between neighboring windows, in pixels: Stride<N>, or a number for each dimension,
// Stride<Rows, Columns> or Stride<Planes, Rows, Columns>.
template <index_t N, index_t... Others>
struct Stride : detail::DimensionNumbers<N, Others...> {
  using dim = Dim<N>;
};

// The padding on all sides, in pixels: zeros, for a maximum minus infinity. Or that of each
// dimension, Padding<Rows, Columns> (above and below, left and right) or Padding<Planes, Rows,
// Columns>.
template <index_t N, index_t... Others>
struct Padding : detail::DimensionNumbers<N, Others...> {
  using dim = Dim<N>;
};

// The padding that makes the output of a convolution of stride 1 as large as its input; where it is
// odd, one more zero is below and right. In PyTorch padding='same'.
struct PaddingSame {};

// The padding of a convolution as a reflection at the outermost elements, copies of them, or the
// elements at the other end; zeros without one of these. Its width is that of Padding or
// PaddingSame. In PyTorch padding_mode='reflect', 'replicate' and 'circular'.
struct PaddingReflect {};
struct PaddingReplicate {};
struct PaddingCircular {};

// Padding of one side, behind, below and right, of the output of a transposed convolution:
// OutputPadding<N>, or a number for each dimension. In PyTorch output_padding=N.
template <index_t N, index_t... Others>
struct OutputPadding : detail::DimensionNumbers<N, Others...> {
  using dim = Dim<N>;
};

// The distance between the elements that neighboring weights of a convolution read: Dilation<N>, or
// a number for each dimension. In PyTorch dilation=N.
template <index_t N, index_t... Others>
struct Dilation : detail::DimensionNumbers<N, Others...> {
  using dim = Dim<N>;
};

// The groups of channels of a convolution: outputs of a group see the inputs of the same group
// only. With a group for each input channel it is depthwise. In PyTorch groups=N.
template <index_t N>
struct Groups {
  using dim = Dim<N>;
};

// Whether a last window that is only partly in the padded image counts. It has to begin inside the
// image or its left or upper padding. In PyTorch ceil_mode=True.
template <bool on>
struct CeilMode {};

// Whether an average divides by the padding too. In PyTorch count_include_pad=False.
template <bool on>
struct CountIncludePad {};

// The embedding that is 0 at first and is not trained. In PyTorch padding_idx=N.
template <index_t N>
struct PaddingIdx {
  using dim = Dim<N>;
};

// Whether a layer adds a bias. In PyTorch bias=False.
template <bool has>
struct Bias {};

// Whether each place of a sequence attends only to itself and those before it, as is_causal=True
// with the mask of torch.nn.Transformer.generate_square_subsequent_mask.
struct Causal {};

// The probability of a zero in training mode: DropoutRate<1, 5> for 0.2, DropoutRate<0> for none.
// In PyTorch dropout=0.2.
template <index_t Numerator, index_t Denominator = 1>
struct DropoutRate {
  static_assert(
      Numerator >= 0 && Denominator >= 1 && Numerator <= Denominator,
      "gpunet::nn::DropoutRate: the fraction has to be 0 to 1, such as DropoutRate<1, 5> for 0.2");
  static constexpr double value = static_cast<double>(Numerator) / static_cast<double>(Denominator);
};

namespace detail {

template <template <index_t...> class Option, class T>
inline constexpr bool is_option = false;
template <template <index_t...> class Option, index_t... N>
inline constexpr bool is_option<Option, Option<N...>> = true;

template <template <index_t...> class Option, class Default, class... Options>
struct FindOption {
  using type = Default;
};
template <template <index_t...> class Option, class Default, class First, class... Rest>
struct FindOption<Option, Default, First, Rest...> : FindOption<Option, Default, Rest...> {};
template <template <index_t...> class Option, class Default, index_t... N, class... Rest>
struct FindOption<Option, Default, Option<N...>, Rest...> {
  using type = Option<N...>;
};

// The Option<...> among Options; Default if there is none.
template <template <index_t...> class Option, class Default, class... Options>
using option = typename FindOption<Option, Default, Options...>::type;

// Its Dim.
template <template <index_t...> class Option, class Default, class... Options>
using option_dim = typename option<Option, Default, Options...>::dim;

// The numbers of an option.
template <class Option>
inline constexpr index_t numbers_of_option = 0;
template <template <index_t...> class Option, index_t... N>
inline constexpr index_t numbers_of_option<Option<N...>> = sizeof...(N);

// Whether it is such an Option with one number, or one for each dimension.
template <template <index_t...> class Option, index_t dimensions, class T>
inline constexpr bool is_dimension_option = is_option<Option, T> &&
                                            (numbers_of_option<T> == 1 ||
                                             numbers_of_option<T> == dimensions);

// Whether an option is one of windows in this number of dimensions: a KernelHeight, KernelWidth,
// Stride or Padding.
template <class Option, index_t dimensions>
inline constexpr bool is_window_option = is_dimension_option<Stride, dimensions, Option> ||
                                         is_dimension_option<Padding, dimensions, Option> ||
                                         (dimensions > 1 && is_option<KernelWidth, Option>) ||
                                         (dimensions > 2 && is_option<KernelHeight, Option>);

// Whether it is a Bias.
template <class Option>
inline constexpr bool is_bias =
    std::is_same_v<Option, Bias<true>> || std::is_same_v<Option, Bias<false>>;

// Whether layers with these Options add a bias.
template <class... Options>
inline constexpr bool has_bias = (!std::is_same_v<Options, Bias<false>> && ...);

}  // namespace detail

// Returns the number of windows along an extent: (extent + 2 padding - kernel) / stride + 1,
// rounded down.
template <index_t E, index_t K, index_t S, index_t P>
constexpr auto windows(Dim<E> extent, Dim<K> kernel, Dim<S> stride, Dim<P> padding) {
  return (extent + padding + padding - kernel) / stride + Dim<1>{};
}

namespace detail {

// Throws Error for a padded image, or volume, of more than 2^40 elements: smaller ones overflow
// nothing that a layer computes. `sizes` begin with the channels.
constexpr void require_possible(std::string_view layer, std::string_view what, const Sizes& sizes,
                                index_t padding) {
  constexpr index_t most = index_t{1} << 40;
  Sizes padded{sizes[0]};
  for (int i = 1; i < sizes.rank(); ++i)
    padded.append(padding <= most && sizes[i] <= most ? sizes[i] + 2 * padding : sizes[i]);
  const bool possible = padding <= most && sizes.at_most(most) && padded.at_most(most);
  if (!possible)
    require(false, "gpunet::nn::", layer, ": ", what, " of shape ", to_string(sizes),
            " with padding ", padding,
            " (want 2^40 numbers or fewer, no memory holds more), give smaller sizes");
}

}  // namespace detail

// Throw Error for a padded image or volume that no memory holds.
constexpr void require_possible_image(std::string_view layer, index_t channels, index_t height,
                                      index_t width, index_t padding) {
  detail::require_possible(layer, "an image", {channels, height, width}, padding);
}
constexpr void require_possible_volume(std::string_view layer, index_t channels,
                                       const Sizes& volume, index_t padding) {
  detail::require_possible(layer, "a volume", {channels, volume[0], volume[1], volume[2]}, padding);
}

// Returns whether at least one window fits; true for run-time sizes.
template <index_t E, index_t K, index_t P>
constexpr bool window_fits(Dim<E>, Dim<K>, Dim<P>) {
  if constexpr (E == dyn || K == dyn || P == dyn)
    return true;
  else
    return K - P <= P || E >= K - P - P;  // E + 2 P >= K, which might overflow
}

}  // namespace gpunet::nn

// Gives the compiler one clear error for arguments that a layer does not take. Further macro
// arguments are the numbers among its template arguments.
#define GPUNET_REFUSED_LAYER(Layer, instead, ...)                                         \
  template <gpunet::detail::Wrong Option>                                                 \
  class Layer<__VA_ARGS__, Option> : public gpunet::detail::AnyArguments {                \
    static_assert(                                                                        \
        gpunet::detail::never<Option>,                                                    \
        "gpunet::nn::" #Layer                                                             \
        ": these are not the arguments of the layer (the size of its input follows "      \
        "from the layer before it, options are template arguments), write nn::" instead); \
                                                                                          \
   public:                                                                                \
    using AnyArguments::AnyArguments;                                                     \
  };                                                                                      \
  Layer(...)->Layer<__VA_ARGS__, gpunet::detail::WrongArguments>;

// The same for a number in the place of the options of a normalization.
#define GPUNET_REFUSED_FEATURES(Layer)                                                          \
  template <class Number>                                                                       \
  requires std::is_arithmetic_v<Number>                                                         \
  explicit Layer(Number) {                                                                      \
    static_assert(gpunet::detail::never<Number>,                                                \
                  "gpunet::nn::" #Layer                                                         \
                  ": a number in the place of the options (the features follow from the layer " \
                  "before it), write nn::" #Layer "{}, or nn::" #Layer "({.eps = 1e-3})");      \
  }
