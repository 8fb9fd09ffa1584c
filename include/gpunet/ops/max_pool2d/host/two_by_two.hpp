// Max pooling of floats on Host over windows of 2 x 2 that do not overlap, the usual ones: in vectors over samples.
#pragma once

#include <algorithm>

#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/isa_paths.hpp>
#include <gpunet/ops/for_each_plane.hpp>
#include <gpunet/ops/max_pool2d/plain.hpp>

#define GPUNET_KERNELS <gpunet/ops/max_pool2d/host/two_by_two.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet {

namespace detail {

// Returns whether the kernels below support a pooling.
inline bool is_pool_2x2(const Pool2dGeometry& g, const Slice& slice) {
  return g.has_two_by_two_windows() && (slice.inner == 1 || slice.inner % 4 == 0);
}

// One row of maxima from two rows of x, [width][inner].
inline void max_pool_rows(index_t width, index_t inner, const float* above, const float* below, float* y,
                          PoolChoice* choice) {
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
inline void max_pool_rows_backward(index_t width, index_t inner, const float* dy, const PoolChoice* choice,
                                   float* dx) {
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

}  // namespace detail

inline void max_pool2d_forward(Host& device, const Slice& slice, const Pool2dGeometry& g, const float* x, float* y,
                               PoolChoice* choice) {
  if (!detail::is_pool_2x2(g, slice)) return max_pool2d_forward<Host, float>(device, slice, g, x, y, choice);
  const index_t row = g.width * slice.inner, out_row = g.out_width * slice.inner;
  detail::for_each_plane(device, slice, g, [&](index_t plane) {
    for (index_t i = 0; i < g.out_height; ++i) {
      const index_t at = (plane * g.out_height + i) * out_row;
      const float* above = x + (plane * g.height + 2 * i) * row;
      detail::max_pool_rows(g.width, slice.inner, above, above + row, y + at, choice + at);
    }
  });
}

inline void max_pool2d_backward(Host& device, const Slice& slice, const Pool2dGeometry& g, const float* dy,
                                const PoolChoice* choice, float* dx) {
  if (!detail::is_pool_2x2(g, slice)) return max_pool2d_backward<Host, float>(device, slice, g, dy, choice, dx);
  const index_t row = g.width * slice.inner, out_row = g.out_width * slice.inner;
  detail::for_each_plane(device, slice, g, [&](index_t plane) {
    for (index_t i = 0; i < g.out_height; ++i) {
      const index_t at = (plane * g.out_height + i) * out_row;
      detail::max_pool_rows_backward(g.width, slice.inner, dy + at, choice + at,
                                     dx + (plane * g.height + 2 * i) * row);
    }
    if (g.height % 2 != 0) std::fill_n(dx + ((plane + 1) * g.height - 1) * row, row, 0.0f);
  });
}

}  // namespace gpunet
