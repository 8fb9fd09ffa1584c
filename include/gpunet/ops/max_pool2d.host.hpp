// The usual pooling of floats on Host: windows of 2 x 2 that do not overlap, in vectors over samples.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/paths.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/ops/max_pool2d.hpp>

#define GPUNET_KERNELS <gpunet/ops/max_pool2d_kernels.inl>
#include <gpunet/device/host/each_path.inl>

namespace gpunet {

namespace detail {

// Whether the vector kernels can do it.
inline bool is_pool_2x2(const Pool2dGeometry& g, const Slice& slice) {
  return g.kernel == 2 && g.stride == 2 && g.padding == 0 && (slice.inner == 4 || slice.inner == 16);
}

// Calls f(plane) for every channel of every group, on several threads where that pays.
template <class F>
void for_each_plane(Host& device, const Slice& slice, const Pool2dGeometry& g, F f) {
  constexpr index_t enough = 1 << 18;  // elements for a thread
  const index_t planes = slice.outer * g.channels, size = g.height * g.width * slice.inner;
  const index_t chunk = ceil_div(enough, size);
  device.run(ceil_div(planes, chunk), [&](index_t i, int) {
    for (index_t plane = i * chunk; plane < std::min(planes, (i + 1) * chunk); ++plane)
      f(plane);
  });
}

}  // namespace detail

inline void max_pool2d_forward(Host& device, const Slice& slice, const Pool2dGeometry& g, const float* x, float* y,
                               PoolChoice* choice) {
  if (!detail::is_pool_2x2(g, slice)) return max_pool2d_forward<Host, float>(device, slice, g, x, y, choice);
  const index_t row = g.width * slice.inner, out_row = g.out_width * slice.inner;
  detail::for_each_plane(device, slice, g, [&](index_t plane) {
    for (index_t i = 0; i < g.out_height; ++i) {
      const float* above = x + (plane * g.height + 2 * i) * row;
      const index_t out = (plane * g.out_height + i) * out_row;
      GPUNET_CALL_PATH(slice.inner, max_pool_row, g.out_width, slice.inner, above, above + row, y + out,
                       choice + out);
    }
  });
}

inline void max_pool2d_backward(Host& device, const Slice& slice, const Pool2dGeometry& g, const float* dy,
                                const PoolChoice* choice, float* dx) {
  if (!detail::is_pool_2x2(g, slice)) return max_pool2d_backward<Host, float>(device, slice, g, dy, choice, dx);
  if (g.height % 2 != 0 || g.width % 2 != 0) fill(device, slice.samples() * g.in_features(), 0.0f, dx);
  const index_t row = g.width * slice.inner, out_row = g.out_width * slice.inner;
  detail::for_each_plane(device, slice, g, [&](index_t plane) {
    for (index_t i = 0; i < g.out_height; ++i) {
      float* above = dx + (plane * g.height + 2 * i) * row;
      const index_t out = (plane * g.out_height + i) * out_row;
      GPUNET_CALL_PATH(slice.inner, max_pool_row_gradient, g.out_width, slice.inner, dy + out, choice + out, above,
                       above + row);
    }
  });
}

}  // namespace gpunet
