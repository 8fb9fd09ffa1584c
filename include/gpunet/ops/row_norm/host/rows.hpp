// Normalization of rows of floats on Host: in vectors over samples, or over the row for slices of
// one sample.
#pragma once

#include <algorithm>
#include <cmath>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/isa_paths.hpp>
#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/row_norm/plain.hpp>

namespace gpunet {
// Weights whose gradients are computed at a time: a multiple of the lanes of all vectors.
inline constexpr index_t row_norm_weights = 16;
}  // namespace gpunet

#define GPUNET_KERNELS <gpunet/ops/row_norm/host/rows.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet {

namespace detail {

// Calls task(i) for i < n, on several threads where there is much to do.
template <class Task>
void for_each_row(Host& device, const RowNormRows& rows, index_t n, Task task) {
  device.run_if(rows.elements() >= 1 << 15, n, [&](index_t i, int) { task(i); });
}

// The number of floats that vectors run over; 0 if there are no vectors for these rows. Gradients
// of very short rows are differences of near numbers, for which the plain version has more digits.
inline index_t row_width(const RowNormRows& rows) {
  const index_t inner = rows.slice.inner,
                neighbors = rows.g.channels == 0 ? rows.g.length : rows.g.run();
  if (std::min(rows.g.length, inner > 1 ? inner : neighbors) < 4) return 0;
  return inner == 4 || inner == 16 ? inner : inner == 1 ? neighbors : 0;
}

}  // namespace detail

inline void row_norm_forward(Host& device, const RowNormForward<float>& pass) {
  const RowNormRows& rows = pass.rows;
  const index_t width = detail::row_width(rows);
  if (width == 0) return row_norm_forward<Host>(device, pass);
  detail::for_each_row(device, rows, rows.slice.outer * rows.g.rows,
                       [&](index_t row) { GPUNET_CALL_PATH(width, row_norm_forward, pass, row); });
}

inline void row_norm_backward_input(Host& device, const RowNormBackward<float>& pass) {
  const RowNormRows& rows = pass.rows;
  const index_t width = detail::row_width(rows);
  if (width == 0) return row_norm_backward_input<Host>(device, pass);
  detail::for_each_row(device, rows, rows.slice.outer * rows.g.rows, [&](index_t row) {
    GPUNET_CALL_PATH(width, row_norm_input_gradient, pass, row);
  });
}

inline void row_norm_backward_parameters(Host& device, const RowNormBackward<float>& pass) {
  const RowNormRows& rows = pass.rows;
  const index_t width = detail::row_width(rows), weights = rows.g.weights();
  if (width == 0) return row_norm_backward_parameters<Host>(device, pass);
  detail::for_each_row(device, rows, ceil_div(weights, row_norm_weights), [&](index_t i) {
    const index_t first = i * row_norm_weights, last = std::min(first + row_norm_weights, weights);
    GPUNET_CALL_PATH(width, row_norm_parameter_gradients, pass, first, last);
  });
}

}  // namespace gpunet
