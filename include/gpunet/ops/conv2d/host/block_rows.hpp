// A convolution of floats on Host together with the rectifier and the pooling behind it, some rows at a time: what lies
// between them never leaves the innermost cache.
#pragma once

#include <algorithm>
#include <limits>

#include <gpunet/ops/conv2d/host/direct.hpp>
#include <gpunet/ops/max_pool2d/host/two_by_two.hpp>

namespace gpunet {

namespace detail {

// A block on one group of samples, row by row.
struct RowBlock : Conv2dBlock<Conv2dGeometry> {
  index_t inner;

  // Floats of scratch: rows of the convolution that wait to be pooled, or of its gradient; x in order; the rest of what a
  // convolution needs.
  index_t waiting() const {
    const index_t rows = std::min(gradient_block(g, inner), g.out_height + 1) * g.out_width * inner;
    return g.out_channels * std::max(rows, joins_rows() ? used_height() * g.width * inner : 0);
  }
  index_t image() const { return PaddedRows{g, inner}.elements(); }
  index_t scratch(const Host& device) const {
    return waiting() + image() + conv2d_scratch(device, {inner, 1, inner}, g, float{});
  }

  // Whether rows are so short that they are better run through as one.
  bool joins_rows() const {
    constexpr index_t short_row = 16;  // the widest vector
    return pool && g.stride == 1 && g.padding == 0 && g.out_width * inner < short_row;
  }
};

// All rows of a correlation of stride 1 without padding as one, as long as the rows of x: what lies between the rows of
// the result means nothing.
inline void correlate_joined(Correlation c, index_t rows) {
  c.width += (rows - 1) * c.x_row;
  c.data_end = std::numeric_limits<index_t>::max() / 2;
  GPUNET_CALL_PATH(c.width, correlate, c, 0, 1);
}

// y [out_features][inner], and where the maxima were.
inline void forward_in_rows(const RowBlock& block, const float* x, const float* w, const float* b, float* y,
                            PoolChoice* choice, float* scratch) {
  const Conv2dGeometry& g = block.g;
  float* waiting = scratch;
  Correlation c = forward_correlation(g, block.inner, x, w, b, scratch + block.waiting());
  if (block.activation == Activation::relu) c.least = 0;
  if (!block.pool) {
    c.y = y;
    c.y_channel = g.out_height * c.width;
    GPUNET_CALL_PATH(c.width, correlate, c, 0, g.out_height);
    return;
  }
  const bool joined = block.joins_rows();
  const index_t rows = joined ? block.used_height() : 2, pitch = joined ? c.x_row : c.width;
  c.y = waiting;
  c.y_channel = rows * pitch;
  for (index_t row = 0; row < block.used_height(); row += rows) {
    if (joined)
      correlate_joined(c, rows);
    else
      GPUNET_CALL_PATH(c.width, correlate, c, row, row + rows);
    for (index_t channel = 0; channel < g.out_channels; ++channel)
      for (index_t i = 0; i < rows; i += 2) {
        const index_t at = (channel * block.height() + (row + i) / 2) * block.width() * block.inner;
        const float* above = waiting + channel * c.y_channel + i * pitch;
        max_pool_rows(g.out_width, block.inner, above, above + pitch, y + at, choice + at);
      }
  }
}

// Rows `first` to `first + rows` of the convolution's gradient in `waiting`, from that of the block's output.
inline GradientRows gradient_rows(Host& device, const RowBlock& block, index_t first, index_t rows, const float* y,
                                  const PoolChoice* choice, const float* dy, float* waiting) {
  const index_t width = block.g.out_width * block.inner, out_width = block.width() * block.inner;
  const index_t plane = block.height() * out_width, out_rows = block.pool ? rows / 2 : rows;
  const index_t begin = (block.pool ? first / 2 : first) * out_width;
  const bool relu = block.activation == Activation::relu;
  if (!block.pool && !relu) return {dy + begin, plane, first, rows, width};
  for (index_t channel = 0; channel < block.g.out_channels; ++channel) {
    const index_t at = channel * plane + begin;
    float* to = waiting + channel * rows * width;
    if (block.pool)
      for (index_t i = 0; i < out_rows; ++i)
        max_pool_rows_backward(block.g.out_width, block.inner, dy + at + i * out_width, choice + at + i * out_width,
                               to + 2 * i * width);
    else
      rectify_gradient(device, rows * width, y + at, dy + at, to);
  }
  return {waiting, rows * width, first, rows, width};
}

// dx [in_features][inner] unless it is null, dw and db. dy is used up.
inline void backward_in_rows(Host& device, const RowBlock& block, const float* x, const float* y,
                             const PoolChoice* choice, float* dy, const float* w, float* dx, float* dw, float* db,
                             Accumulate accumulate, float* scratch) {
  const Conv2dGeometry& g = block.g;
  const index_t rows = gradient_block(g, block.inner);
  const SpreadRows spread{g, block.inner, block.used_height()};
  float *waiting = scratch, *image = waiting + block.waiting(), *packed = image + block.image();
  float* frame = packed + packed_elements(g.in_channels, g.out_channels, g.kernel);
  if (block.pool && block.activation == Activation::relu)  // pooled gradients of zeros go nowhere
    rectify_gradient(device, block.out_features() * block.inner, y, dy, dy);
  const Correlation c = over_input(g, block.inner, x, image);
  for (index_t row = 0; row < block.used_height(); row += rows, accumulate = Accumulate::yes) {
    const index_t some = std::min(rows, block.used_height() - row);
    const GradientRows dz = gradient_rows(device, block, row, some, y, choice, dy, waiting);
    GPUNET_CALL_PATH(c.width, parameter_gradients, c, dz, dw, db, accumulate);
    if (dx) spread.fill(dz, frame);
  }
  if (dx) correlate_gradient(spread, frame, w, dx, packed);
}

}  // namespace detail

}  // namespace gpunet
