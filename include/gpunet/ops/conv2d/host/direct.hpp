// Convolution of floats on Host: direct, in vectors over neighbouring columns and samples.
#pragma once

#include <algorithm>
#include <limits>

#include <gpunet/device/host/paths.hpp>
#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/conv2d/host/rows.hpp>
#include <gpunet/ops/conv2d/host/workers.hpp>

#define GPUNET_KERNELS <gpunet/ops/conv2d/host/direct.inl>
#include <gpunet/device/host/each_path.inl>

namespace gpunet {

namespace detail {

// Whether the vector kernels can run rows of `columns`; else the plain version does.
inline bool has_vector_rows(const Conv2dGeometry& g, index_t columns, index_t inner) {
  return columns * inner >= 4 && g.kernel <= Correlation::most_kernel;
}

// A correlation of stride 1 over images [channel][row][columns] that lie as `rows` says, PaddedRows or SpreadRows, except
// for its filters and for where its result goes.
template <class Rows>
Correlation over_rows(const Rows& rows, const float* x, index_t channels, index_t height, index_t out_channels,
                      index_t width) {
  Correlation c{};
  c.x = x;
  c.channels = channels;
  c.x_row = rows.row();
  c.x_channel = height * c.x_row;
  c.height = height;
  c.kernel = rows.g.kernel;
  for (index_t k = 0; k < c.kernel * c.kernel; ++k)
    c.taps[k] = k / c.kernel * c.x_row + rows.tap(k % c.kernel);
  c.stride = 1;
  c.spread = 1;
  c.data_begin = rows.data_begin();
  c.data_end = rows.data_end();
  c.least = -std::numeric_limits<float>::infinity();
  c.out_channels = out_channels;
  c.tile = correlation_tile(out_channels);
  c.width = width * rows.inner;
  return c;
}

// What forward and the weight gradient have in common: x ready to be read.
inline Correlation over_input(const Conv2dGeometry& g, index_t inner, const float* x, float* image) {
  const PaddedRows padded{g, inner};
  if (padded.needed()) padded.fill(x, image);
  Correlation c =
      over_rows(padded, padded.needed() ? image : x, g.in_channels, g.height, g.out_channels, g.out_width);
  c.stride = g.stride;
  c.padding = g.padding;
  return c;
}

// The forward pass of one group of samples, except for where its rows go.
inline Correlation forward_correlation(const Conv2dGeometry& g, index_t inner, const float* x, const float* w,
                                       const float* b, float* scratch) {
  Correlation c = over_input(g, inner, x, scratch + packed_elements(g.out_channels, g.in_channels, g.kernel));
  pack_filters(c, w, {g.taps(), g.kernel * g.kernel, 1, 0}, b, scratch);
  return c;
}

// dx of one group of samples from the rows that SpreadRows made of dy.
inline void correlate_gradient(const SpreadRows& spread, const float* rows, const float* w, float* dx,
                               float* packed) {
  const Conv2dGeometry& g = spread.g;
  Correlation c = over_rows(spread, rows, g.out_channels, spread.rows, g.in_channels, g.width);
  c.padding = spread.frame();
  c.spread = g.stride;
  c.y = dx;
  c.y_channel = g.height * c.width;
  const index_t area = g.kernel * g.kernel;
  pack_filters(c, w, {area, g.taps(), -1, area - 1}, nullptr, packed);
  GPUNET_CALL_PATH(c.width, correlate, c, 0, g.height);
}

// How many rows of dy stay in the innermost cache while their products with x are summed: an even number.
inline index_t gradient_block(const Conv2dGeometry& g, index_t inner) {
  constexpr index_t floats = 8192;
  return std::max(index_t{2}, floats / (4 * g.out_width * inner) / 2 * 2);
}

// Elements of scratch of one worker.
inline index_t direct_scratch(const Slice& slice, const Conv2dGeometry& g) {
  const index_t filters = std::max(detail::packed_elements(g.out_channels, g.in_channels, g.kernel),
                                   detail::packed_elements(g.in_channels, g.out_channels, g.kernel));
  return round_up(filters + std::max(PaddedRows{g, slice.inner}.elements(),
                                     SpreadRows{g, slice.inner, g.out_height}.elements()),
                  16);
}

// dw and db of all groups, for some output channels: those of `g`, which are the first of x, dy, dw and db here. Groups
// of dy have `dy_group` elements.
inline void gradients_of_channels(const Slice& slice, const Conv2dGeometry& g, const float* x, const float* dy,
                                  index_t dy_group, float* dw, float* db, Accumulate accumulate, float* scratch) {
  const index_t block = gradient_block(g, slice.inner), width = g.out_width * slice.inner;
  for (index_t outer = 0; outer < slice.outer; ++outer) {
    const Correlation c = over_input(g, slice.inner, x + outer * g.in_features() * slice.inner, scratch);
    for (index_t row = 0; row < g.out_height; row += block, accumulate = Accumulate::yes) {
      const GradientRows rows{dy + outer * dy_group + row * width, g.out_height * width, row,
                              std::min(block, g.out_height - row), width};
      GPUNET_CALL_PATH(width, parameter_gradients, c, rows, dw, db, accumulate);
    }
  }
}

}  // namespace detail

inline index_t conv2d_scratch(const Host& device, const Slice& slice, const Conv2dGeometry& g, float) {
  return detail::conv2d_workers(device, slice, g) * detail::direct_scratch(slice, g);
}

inline void conv2d_forward(Host& device, const Slice& slice, const Conv2dGeometry& g, const float* x,
                           const float* w, const float* b, float* y, float* scratch) {
  if (!detail::has_vector_rows(g, g.out_width, slice.inner))
    return conv2d_forward<Host, float>(device, slice, g, x, w, b, y, scratch);
  const index_t part = detail::direct_scratch(slice, g);
  device.run_if(detail::is_shared(slice, g), slice.outer, [&](index_t outer, index_t worker) {
    Correlation c = detail::forward_correlation(g, slice.inner, x + outer * g.in_features() * slice.inner, w, b,
                                                scratch + worker * part);
    c.y = y + outer * g.out_features() * slice.inner;
    c.y_channel = g.out_height * c.width;
    GPUNET_CALL_PATH(c.width, correlate, c, 0, g.out_height);
  });
}

inline void conv2d_backward_input(Host& device, const Slice& slice, const Conv2dGeometry& g, const float* dy,
                                  const float* w, float* dx, float* scratch) {
  if (!detail::has_vector_rows(g, g.width, slice.inner))
    return conv2d_backward_input<Host, float>(device, slice, g, dy, w, dx, scratch);
  const detail::SpreadRows spread{g, slice.inner, g.out_height};
  const index_t width = g.out_width * slice.inner, part = detail::direct_scratch(slice, g);
  device.run_if(detail::is_shared(slice, g), slice.outer, [&](index_t outer, index_t worker) {
    float* packed = scratch + worker * part;
    float* rows = packed + detail::packed_elements(g.in_channels, g.out_channels, g.kernel);
    spread.fill({dy + outer * g.out_channels * g.out_height * width, g.out_height * width, 0, g.out_height, width},
                rows);
    detail::correlate_gradient(spread, rows, w, dx + outer * g.in_features() * slice.inner, packed);
  });
}

inline void conv2d_backward_parameters(Host& device, const Slice& slice, const Conv2dGeometry& g, const float* x,
                                       const float* dy, float* dw, float* db, Accumulate accumulate,
                                       float* scratch) {
  if (!detail::has_vector_rows(g, g.out_width, slice.inner))
    return conv2d_backward_parameters<Host, float>(device, slice, g, x, dy, dw, db, accumulate, scratch);
  const index_t workers = detail::conv2d_workers(device, slice, g), part = detail::direct_scratch(slice, g);
  const index_t channels = round_up(ceil_div(g.out_channels, workers), 4);
  device.run_if(workers > 1, ceil_div(g.out_channels, channels), [&](index_t i, index_t worker) {
    const index_t first = i * channels;
    Conv2dGeometry some = g;
    some.out_channels = std::min(channels, g.out_channels - first);
    detail::gradients_of_channels(slice, some, x, dy + first * g.out_pixels() * slice.inner,
                                  g.out_features() * slice.inner, dw + first * g.taps(), db + first, accumulate,
                                  scratch + worker * part);
  });
}

}  // namespace gpunet
