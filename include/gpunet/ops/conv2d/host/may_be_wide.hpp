// The kernels that a convolution may need on Host, from its compile-time sizes.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/ops/conv2d/geometry.hpp>

namespace gpunet {

namespace detail {

// Limits of the rows of direct.hpp: floats of the shortest row, and taps.
inline constexpr index_t least_row = 4, most_direct_taps = 121;

// Returns the tiles of 4 outputs along an axis, those of a tile a dilation apart.
constexpr index_t winograd_tiles(const ConvAxis& axis) {
  return ceil_div(ceil_div(axis.outputs, axis.dilation), 4) * axis.dilation;
}

// The measured costs of a convolution by Winograd's algorithm and directly: in products per filter;
// products of a direct convolution cost a third more. The transform of a filter costs about 100;
// that of inputs is shared among the output channels, that of outputs among the input channels.
struct WinogradCost {
  index_t winograd = 0, direct = 0;

  constexpr WinogradCost(const Conv2dGeometry& g, index_t groups, index_t inner) {
    const index_t filters = std::max(index_t{1}, g.in_channels * g.out_channels);
    const index_t tiles =
        ceil_div(groups * inner * winograd_tiles(g.rows) * winograd_tiles(g.columns), 16);
    const index_t points = (g.rows.kernel + 3) * (g.rows.kernel + 3);
    winograd = 100 + tiles * points * (filters + 18 * (g.in_channels + g.out_channels)) / filters;
    direct = groups * inner * g.rows.outputs * g.columns.outputs * g.area() / 12;
  }
};

// Returns whether Winograd's algorithm is possible.
constexpr bool has_winograd(const Conv2dGeometry& g) {
  const auto fits = [](const ConvAxis& axis) {
    return axis.stride == 1 && axis.padding < axis.reach();
  };
  return (g.rows.kernel == 3 || g.rows.kernel == 5) && g.columns.kernel == g.rows.kernel &&
         fits(g.rows) && fits(g.columns);
}

// Returns whether Winograd's algorithm is faster; between few channels, by enough to be worth its
// code size.
constexpr bool is_faster_by_winograd(const Conv2dGeometry& g, index_t groups, index_t inner) {
  constexpr index_t many = WideConv2dGeometry::many;
  if (!has_winograd(g)) return false;
  const WinogradCost cost(g, groups, inner);
  return g.in_channels >= many && g.out_channels >= many ? cost.winograd < cost.direct
                                                         : 4 * cost.winograd < 3 * cost.direct;
}

}  // namespace detail

// Returns whether a convolution may need the kernels for WideConv2dGeometry. `known` are its
// compile-time sizes; 0: a run-time size.
constexpr bool may_be_wide(const Conv2dGeometry& known) {
  const index_t fewer = std::min(known.ins(), known.outs());
  const auto is_known = [](const ConvAxis& axis) {
    return std::min({axis.outputs, axis.kernel, axis.stride, axis.dilation}) > 0;
  };
  if (fewer == 0 || !is_known(known.rows) || !is_known(known.columns)) return true;
  return known.groups > 1 || known.area() > detail::most_direct_taps ||
         std::min(known.columns.size, known.columns.outputs) < detail::least_row ||
         fewer >= WideConv2dGeometry::many ||
         std::max(known.ins(), known.outs()) > WideConv2dGeometry::many_rows ||
         detail::is_faster_by_winograd(known, 1, 16);
}

}  // namespace gpunet
