// Options and output sizes of the poolings.
#pragma once

#include <algorithm>
#include <limits>
#include <string_view>
#include <type_traits>

#include <gpunet/nn/options.hpp>

namespace gpunet::nn {

namespace detail {

// Whether an option is a CeilMode.
template <class Option>
inline constexpr bool is_ceil_mode =
    std::is_same_v<Option, CeilMode<true>> || std::is_same_v<Option, CeilMode<false>>;

// Whether it is a CountIncludePad.
template <class Option>
inline constexpr bool is_count_include_pad =
    std::is_same_v<Option, CountIncludePad<true>> || std::is_same_v<Option, CountIncludePad<false>>;

template <class... Options>
inline constexpr bool has_ceil_mode = (std::is_same_v<Options, CeilMode<true>> || ...);

// Whether averages with these Options divide by the padding too.
template <class... Options>
inline constexpr bool counts_padding = (!std::is_same_v<Options, CountIncludePad<false>> && ...);

// The windows of a pooling along one dimension.
struct PoolWindow {
  index_t kernel, stride, padding;
  bool ceil;
};

// Returns the number of windows: (extent + 2 padding - kernel) / stride + 1, rounded up in ceil
// mode if that window begins inside the image or the padding before it. 0 or less if none fits.
constexpr index_t pool_windows(index_t extent, const PoolWindow& window) {
  const auto& [kernel, stride, padding, ceil] = window;
  const index_t rest = extent - kernel + 2 * padding;
  if (rest < 0) return ceil && rest > -stride && extent > 0 ? 1 : 0;
  const index_t behind = rest % stride;  // elements behind the last whole window
  return rest / stride + 1 + (ceil && behind > 0 && stride - behind < kernel - padding ? 1 : 0);
}

// The same as a type.
template <index_t Kernel, index_t StrideSize, index_t PaddingSize, bool ceil>
struct PoolWindows {
  static constexpr index_t kernel = Kernel, stride = StrideSize, padding = PaddingSize;

  static constexpr index_t count(index_t extent) {
    return pool_windows(extent, {kernel, stride, padding, ceil});
  }
  template <index_t E>
  static constexpr auto outputs(Dim<E> extent) {
    if constexpr (E == dyn)
      return Dim(count(extent));
    else
      return Dim<count(E)>{};
  }
  // Returns whether at least one window fits; true for run-time extents.
  template <index_t E>
  static constexpr bool fits(Dim<E>) {
    return E == dyn || count(E) > 0;
  }
};

// The windows of a two-dimensional pooling.
template <index_t Kernel, class... Options>
struct PoolWindows2d {
  static constexpr index_t kernel = Kernel,
                           kernel_width =
                               option_dim<KernelWidth, KernelWidth<Kernel>, Options...>{};
  using Strides = option<Stride, Stride<kernel, kernel_width>, Options...>;
  using Paddings = option<Padding, Padding<0>, Options...>;
  static constexpr index_t stride = Strides::rows, stride_width = Strides::columns;
  static constexpr index_t padding = Paddings::rows, padding_width = Paddings::columns;
  static constexpr bool ceil = has_ceil_mode<Options...>;
  using Rows = PoolWindows<kernel, stride, padding, ceil>;
  using Columns = PoolWindows<kernel_width, stride_width, padding_width, ceil>;

  static constexpr bool has_kernel(index_t most = std::numeric_limits<index_t>::max()) {
    return kernel >= 1 && kernel <= most && kernel_width >= 1 && kernel_width <= most;
  }
  static constexpr bool has_stride() { return stride > 0 && stride_width > 0; }
  static constexpr bool has_padding() {
    return padding <= kernel / 2 && padding_width <= kernel_width / 2;
  }
  // Returns whether windows fit into an image [channels, height, width]; true for run-time sizes.
  template <class In>
  static constexpr bool fit(In in) {
    return Rows::fits(decltype(in.template at<1>()){}) &&
           Columns::fits(decltype(in.template at<2>()){});
  }

  // Returns the shape of the output. Throws Error for images that the layer cannot take.
  template <class In>
  static constexpr auto output(std::string_view layer, In in) {
    const auto height = in.template at<1>();
    const auto width = in.template at<2>();
    require_possible_image(layer, in.template at<0>(), height, width,
                           std::max(padding, padding_width));
    const bool fits = Rows::count(height) > 0 && Columns::count(width) > 0;
    const index_t padded_height = height + 2 * padding, padded_width = width + 2 * padding_width;
    if constexpr (kernel == kernel_width)
      require(fits, "gpunet::nn::", layer, ": the kernel (", kernel,
              ") is larger than the padded image (", padded_height, " x ", padded_width,
              "), use a smaller kernel or a larger image");
    else
      require(fits, "gpunet::nn::", layer, ": the kernel (", kernel, " x ", kernel_width,
              ") is larger than the padded image (", padded_height, " x ", padded_width,
              "), use a smaller kernel or a larger image");
    return Shape(in.template at<0>(), Rows::outputs(height), Columns::outputs(width));
  }
};

// The windows of a one-dimensional pooling: one row of [channels, 1, length].
template <index_t Kernel, class... Options>
struct PoolWindows1d
    : PoolWindows<Kernel, index_t{option_dim<Stride, Stride<Kernel>, Options...>{}},
                  index_t{option_dim<Padding, Padding<0>, Options...>{}},
                  has_ceil_mode<Options...>> {
  // Returns whether windows fit into an input [channels, length]; true for a run-time length.
  template <class In>
  static constexpr bool fit(In in) {
    return PoolWindows1d::fits(decltype(in.template at<1>()){});
  }

  // Returns the shape of the output. Throws Error for inputs that the layer cannot take.
  template <class In>
  static constexpr auto output(std::string_view layer, In in) {
    const auto length = in.template at<1>();
    constexpr index_t padding = PoolWindows1d::padding;
    require_possible_image(layer, in.template at<0>(), 1, length, padding);
    require(PoolWindows1d::count(length) > 0, "gpunet::nn::", layer, ": the kernel (", Kernel,
            ") is larger than the padded length (", length + 2 * padding,
            "), use a smaller kernel or longer inputs");
    return Shape(in.template at<0>(), PoolWindows1d::outputs(length));
  }
};

// The windows of a three-dimensional pooling.
template <index_t Kernel, class... Options>
struct PoolWindows3d {
  static constexpr index_t kernel = Kernel,
                           kernel_height =
                               option_dim<KernelHeight, KernelHeight<Kernel>, Options...>{},
                           kernel_width =
                               option_dim<KernelWidth, KernelWidth<Kernel>, Options...>{};
  using Strides = option<Stride, Stride<kernel, kernel_height, kernel_width>, Options...>;
  using Paddings = option<Padding, Padding<0>, Options...>;
  static constexpr bool ceil = has_ceil_mode<Options...>;
  using Planes = PoolWindows<kernel, Strides::planes, Paddings::planes, ceil>;
  using Rows = PoolWindows<kernel_height, Strides::rows, Paddings::rows, ceil>;
  using Columns = PoolWindows<kernel_width, Strides::columns, Paddings::columns, ceil>;

  static constexpr bool has_kernel(index_t most = std::numeric_limits<index_t>::max()) {
    return std::min({kernel, kernel_height, kernel_width}) >= 1 &&
           std::max({kernel, kernel_height, kernel_width}) <= most;
  }
  static constexpr bool has_stride() {
    return std::min({Planes::stride, Rows::stride, Columns::stride}) > 0;
  }
  static constexpr bool has_padding() {
    return Planes::padding <= kernel / 2 && Rows::padding <= kernel_height / 2 &&
           Columns::padding <= kernel_width / 2;
  }
  // Returns whether windows fit into [channels, depth, height, width]; true for run-time sizes.
  template <class In>
  static constexpr bool fit(In in) {
    return Planes::fits(decltype(in.template at<1>()){}) &&
           Rows::fits(decltype(in.template at<2>()){}) &&
           Columns::fits(decltype(in.template at<3>()){});
  }

  // Returns the shape of the output. Throws Error for volumes that the layer cannot take.
  template <class In>
  static constexpr auto output(std::string_view layer, In in) {
    const auto depth = in.template at<1>();
    const auto height = in.template at<2>();
    const auto width = in.template at<3>();
    require_possible_volume(layer, in.template at<0>(), {depth, height, width},
                            std::max({Planes::padding, Rows::padding, Columns::padding}));
    require(Planes::count(depth) > 0 && Rows::count(height) > 0 && Columns::count(width) > 0,
            "gpunet::nn::", layer, ": the kernel (", kernel, " x ", kernel_height, " x ",
            kernel_width, ") is larger than the padded volume (", depth + 2 * Planes::padding,
            " x ", height + 2 * Rows::padding, " x ", width + 2 * Columns::padding,
            "), use a smaller kernel or a larger volume");
    return Shape(in.template at<0>(), Planes::outputs(depth), Rows::outputs(height),
                 Columns::outputs(width));
  }
};

}  // namespace detail

}  // namespace gpunet::nn
