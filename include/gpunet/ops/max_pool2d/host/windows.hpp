// Max pooling of floats on Host: in vectors over samples; for slices of one sample over columns, or
// over the columns of a wide window. Windows of 2 x 2 that do not overlap, the usual ones, have
// kernels of their own.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/isa_paths.hpp>
#include <gpunet/ops/for_each_plane.hpp>
#include <gpunet/ops/max_pool2d/plain.hpp>

#define GPUNET_KERNELS <gpunet/ops/max_pool2d/host/windows.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet {

namespace detail {

// Returns whether the kernels of 2 x 2 support a pooling.
inline bool is_pool_2x2(const Pool2dGeometry& g, const Slice& slice) {
  return g.has_two_by_two_windows() && (slice.inner == 1 || slice.inner % 4 == 0);
}

// One row of maxima from two rows of x, [width][inner].
inline void max_pool_rows(index_t width, index_t inner, const float* above, const float* below,
                          float* y, PoolChoice* choice) {
  if (inner % 4 == 0) {
    GPUNET_CALL_PATH(inner, max_pool_row, width / 2, inner, above, below, y, choice);
    return;
  }
  if (width / 2 >= 4) {
    GPUNET_CALL_PATH(width / 2, max_pool_row_of_one, width / 2, above, below, y, choice);
    return;
  }
  for (index_t i = 0; i < width / 2; ++i, above += 2, below += 2) {
    const float candidates[] = {above[0], above[1], below[0], below[1]};
    int where = 0;
    for (int k = 1; k < 4; ++k)
      where = candidates[k] > candidates[where] || candidates[k] != candidates[k] ? k : where;
    y[i] = candidates[where];
    choice[i] = static_cast<PoolChoice>(where);
  }
}

// The backward pass: one row of dy gives two rows of dx, [2][width][inner].
inline void max_pool_rows_backward(index_t width, index_t inner, const float* dy,
                                   const PoolChoice* choice, float* dx) {
  float* below = dx + width * inner;
  if (inner % 4 == 0)
    GPUNET_CALL_PATH(inner, max_pool_row_gradient, width / 2, inner, dy, choice, dx, below);
  else
    for (index_t i = 0; i < width / 2; ++i) {
      dx[2 * i] = choice[i] == 0 ? dy[i] : 0;
      dx[2 * i + 1] = choice[i] == 1 ? dy[i] : 0;
      below[2 * i] = choice[i] == 2 ? dy[i] : 0;
      below[2 * i + 1] = choice[i] == 3 ? dy[i] : 0;
    }
  if (width % 2 == 0) return;  // else the last column is in no window
  std::fill_n(dx + (width - 1) * inner, inner, 0.0f);
  std::fill_n(below + (width - 1) * inner, inner, 0.0f);
}

// One row of y of one channel, [out_width][inner], from its image.
inline void max_pool_windows_row(const Pool2dGeometry& g, index_t inner, index_t row,
                                 const float* image, float* y, PoolChoice* choice) {
  if (inner > 1) {
    GPUNET_CALL_PATH(inner, max_pool_windows, g, inner, row, image, y, choice);
    return;
  }
  // Windows of these columns have all their columns.
  const index_t begin = std::min(g.out_width, ceil_div(g.padding_width, g.stride_width));
  const index_t after = g.width - g.kernel_width + g.padding_width;
  const index_t end =
      after < 0 ? begin : std::clamp(after / g.stride_width + 1, begin, g.out_width);
  const bool over_columns = end - begin >= 4 && g.kernel_width < 16;
  if (over_columns)
    GPUNET_CALL_PATH(end - begin, max_pool_windows_of_one, g, row, begin, end, image, y, choice);
  for (index_t column = 0; column < g.out_width; ++column) {
    if (over_columns && begin <= column && column < end) continue;
    const ClippedWindow window = clipped_window(g, row, column);
    const float* from = image + window.top * g.width + window.left;
    if (window.columns >= 4)
      GPUNET_CALL_PATH(window.columns, max_pool_wide_window, g, window, from, y + column,
                       choice + column);
    else
      max_of_window(g, window, 1, from, y[column], choice[column]);
  }
}

// The backward pass of one channel: each output's gradient goes to the element that it came from.
// In the order of the plain version, the last output first.
inline void max_pool_windows_backward(const Pool2dGeometry& g, index_t inner, const float* dy,
                                      const PoolChoice* choice, float* dx) {
  const auto width = static_cast<std::uint32_t>(g.kernel_width);
  std::fill_n(dx, g.height * g.width * inner, 0.0f);
  for (index_t row = g.out_height; row-- > 0;)
    for (index_t column = g.out_width; column-- > 0;) {
      const index_t output = (row * g.out_width + column) * inner;
      float* const window = dx + ((row * g.stride - g.padding) * g.width + column * g.stride_width -
                                  g.padding_width) *
                                     inner;
      for (index_t j = 0; j < inner; ++j) {
        const std::uint32_t place = choice[output + j];
        window[(place / width * g.width + place % width) * inner + j] += dy[output + j];
      }
    }
}

}  // namespace detail

inline void max_pool2d_forward(Host& device, const Slice& slice, const Pool2dGeometry& g,
                               const float* x, float* y, PoolChoice* choice) {
  const index_t row = g.width * slice.inner, out_row = g.out_width * slice.inner;
  const bool is_2x2 = detail::is_pool_2x2(g, slice);
  detail::for_each_plane(device, slice, g, [&](index_t plane) {
    const float* image = x + plane * g.height * row;
    for (index_t i = 0; i < g.out_height; ++i) {
      const index_t at = (plane * g.out_height + i) * out_row;
      const float* above = image + 2 * i * row;
      if (is_2x2)
        detail::max_pool_rows(g.width, slice.inner, above, above + row, y + at, choice + at);
      else
        detail::max_pool_windows_row(g, slice.inner, i, image, y + at, choice + at);
    }
  });
}

inline void max_pool2d_backward(Host& device, const Slice& slice, const Pool2dGeometry& g,
                                const float* dy, const PoolChoice* choice, float* dx) {
  const index_t row = g.width * slice.inner, out_row = g.out_width * slice.inner;
  const bool is_2x2 = detail::is_pool_2x2(g, slice);
  detail::for_each_plane(device, slice, g, [&](index_t plane) {
    if (!is_2x2) {
      const index_t at = plane * g.out_height * out_row;
      detail::max_pool_windows_backward(g, slice.inner, dy + at, choice + at,
                                        dx + plane * g.height * row);
      return;
    }
    for (index_t i = 0; i < g.out_height; ++i) {
      const index_t at = (plane * g.out_height + i) * out_row;
      detail::max_pool_rows_backward(g.width, slice.inner, dy + at, choice + at,
                                     dx + (plane * g.height + 2 * i) * row);
    }
    if (g.height % 2 != 0) std::fill_n(dx + ((plane + 1) * g.height - 1) * row, row, 0.0f);
  });
}

}  // namespace gpunet
