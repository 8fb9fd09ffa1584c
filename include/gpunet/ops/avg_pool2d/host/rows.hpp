// Average pooling of floats on Host: in vectors over samples, or over columns for slices of one
// sample.
#pragma once

#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/isa_paths.hpp>
#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/avg_pool2d/plain.hpp>
#include <gpunet/ops/for_each_plane.hpp>

#define GPUNET_KERNELS <gpunet/ops/avg_pool2d/host/rows.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet {

namespace detail {

// A geometry with the same result: the image of a global pooling as one row, so that there is one
// long sum.
inline AvgPool2dGeometry in_few_rows(const AvgPool2dGeometry& g) {
  return g.is_global() ? AvgPool2dGeometry{g.channels, {1, 1}, {g.rows.size * g.columns.size, 1}}
                       : g;
}

// The number of floats that vectors run over.
inline index_t pool_width(const AvgPool2dGeometry& g, const Slice& slice) {
  return slice.inner > 1 ? slice.inner : g.columns.length(0);
}

}  // namespace detail

inline void avg_pool2d_forward(Host& device, const Slice& slice, const AvgPool2dGeometry& geometry,
                               const float* x, float* y) {
  const AvgPool2dGeometry g = detail::in_few_rows(geometry);
  detail::for_each_plane(device, slice, g, [&](index_t plane) {
    const float* image = x + plane * g.rows.size * g.columns.size * slice.inner;
    float* out = y + plane * g.rows.outputs * g.columns.outputs * slice.inner;
    GPUNET_CALL_PATH(detail::pool_width(g, slice), avg_pool_plane, g, slice.inner, image, out);
  });
}

inline void avg_pool2d_backward(Host& device, const Slice& slice, const AvgPool2dGeometry& geometry,
                                const float* dy, float* dx) {
  const AvgPool2dGeometry g = detail::in_few_rows(geometry);
  detail::for_each_plane(device, slice, g, [&](index_t plane) {
    const float* gradients = dy + plane * g.rows.outputs * g.columns.outputs * slice.inner;
    float* out = dx + plane * g.rows.size * g.columns.size * slice.inner;
    GPUNET_CALL_PATH(detail::pool_width(g, slice), avg_pool_plane_gradient, g, slice.inner,
                     gradients, out);
  });
}

}  // namespace gpunet
