// A convolution of floats on Host together with the rectifier and the pooling behind it, so that what lies between them
// never leaves the innermost cache.
#pragma once

#include <algorithm>

#include <gpunet/ops/activation.hpp>
#include <gpunet/ops/conv2d_wide.host.hpp>
#include <gpunet/ops/max_pool2d.host.hpp>
#include <gpunet/ops/rectify.hpp>

namespace gpunet {

// A convolution and what follows it: y = pool(activation(x * w + b)), with max pooling over windows of 2 x 2 that do not
// overlap, or none.
template <class Geometry>
struct Conv2dBlock {
  Geometry g;  // Conv2dGeometry or WideConv2dGeometry
  Activation activation;
  bool pool;

  // Rows and columns of the convolution that have a part in y.
  index_t used_height() const { return pool ? g.out_height / 2 * 2 : g.out_height; }
  index_t height() const { return pool ? g.out_height / 2 : g.out_height; }
  index_t width() const { return pool ? g.out_width / 2 : g.out_width; }
  index_t out_features() const { return g.out_channels * height() * width(); }

  Pool2dGeometry pooling(index_t rows) const {
    return {g.out_channels, rows, g.out_width, rows / 2, g.out_width / 2, 2, 2, 0};
  }
};

template <class Geometry>
Conv2dBlock(Geometry, Activation, bool) -> Conv2dBlock<Geometry>;

namespace detail {

// Whether the block can go row by row; else it is three ops one after another, each on all threads.
template <class Geometry>
bool in_rows(const Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block) {
  return conv2d_workers(device, slice, block.g) == 1 && !wide_pays(device, slice, block.g) &&
         has_vector_rows(block.g, block.g.out_width, slice.inner) &&
         has_vector_rows(block.g, block.g.width, slice.inner);
}

// Whether rows are so short that they are better run through as one.
template <class Geometry>
bool joins_rows(const Slice& slice, const Conv2dBlock<Geometry>& block) {
  constexpr index_t short_row = 16;  // the widest vector
  return block.pool && block.g.stride == 1 && block.g.padding == 0 && block.g.out_width * slice.inner < short_row;
}

// Elements of the convolution's output, or of its gradient, that wait in scratch.
template <class Geometry>
index_t waiting_elements(const Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block) {
  if (!in_rows(device, slice, block)) return block.pool ? slice.samples() * block.g.out_features() : 0;
  const index_t rows = std::min(gradient_block(block.g, slice.inner), block.g.out_height + 1);
  const index_t joined = joins_rows(slice, block) ? block.used_height() * block.g.width * slice.inner : 0;
  return block.g.out_channels * std::max(joined, rows * block.g.out_width * slice.inner);
}

// All rows of a correlation of stride 1 without padding as one, as long as the rows of x: what lies between the rows of
// the result means nothing.
inline void correlate_joined(Correlation c, index_t rows) {
  c.width += (rows - 1) * c.x_row;
  c.data_end = std::numeric_limits<index_t>::max() / 2;
  GPUNET_CALL_PATH(c.width, correlate, c, 0, 1);
}

template <class Geometry>
void forward_one_by_one(Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block, const float* x,
                        const float* w, const float* b, float* y, PoolChoice* choice, float* scratch) {
  const Geometry& g = block.g;
  float* z = block.pool ? scratch : y;
  conv2d_forward(device, slice, g, x, w, b, z, scratch + waiting_elements(device, slice, block));
  if (block.activation == Activation::relu) rectify(device, slice.samples() * g.out_features(), z, z);
  if (block.pool) max_pool2d_forward(device, slice, block.pooling(g.out_height), z, y, choice);
}

template <class Geometry>
void backward_one_by_one(Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block, const float* x,
                         const float* y, const PoolChoice* choice, float* dy, const float* w, float* dx, float* dw,
                         float* db, Accumulate accumulate, float* scratch) {
  const Geometry& g = block.g;
  if (block.activation == Activation::relu)
    rectify_gradient(device, slice.samples() * block.out_features(), y, dy, dy);
  const float* dz = block.pool ? scratch : dy;
  if (block.pool) max_pool2d_backward(device, slice, block.pooling(g.out_height), dy, choice, scratch);
  scratch += waiting_elements(device, slice, block);
  conv2d_backward_parameters(device, slice, g, x, dz, dw, db, accumulate, scratch);
  if (dx) conv2d_backward_input(device, slice, g, dz, w, dx, scratch);
}

// Rows `first` to `first + rows` of the convolution's gradient in `waiting`, from that of the block's output.
template <class Geometry>
GradientRows gradient_rows(Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block, index_t first,
                           index_t rows, const float* y, const PoolChoice* choice, const float* dy,
                           float* waiting) {
  const index_t width = block.g.out_width * slice.inner, out_width = block.width() * slice.inner;
  const index_t plane = block.height() * out_width, out_rows = block.pool ? rows / 2 : rows;
  const index_t begin = (block.pool ? first / 2 : first) * out_width;
  const bool relu = block.activation == Activation::relu;
  if (!block.pool && !relu) return {dy + begin, plane, first, rows, width};
  for (index_t channel = 0; channel < block.g.out_channels; ++channel) {
    const index_t at = channel * plane + begin;
    float* to = waiting + channel * rows * width;
    if (block.pool)
      for (index_t i = 0; i < out_rows; ++i)
        max_pool_rows_backward(block.g.out_width, slice.inner, dy + at + i * out_width, choice + at + i * out_width,
                               to + 2 * i * width);
    else
      rectify_gradient(device, rows * width, y + at, dy + at, to);
  }
  return {waiting, rows * width, first, rows, width};
}

}  // namespace detail

// Elements of scratch that the two functions below need.
template <class Geometry>
index_t conv2d_block_scratch(const Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block) {
  return detail::waiting_elements(device, slice, block) + conv2d_scratch(device, slice, block.g, float{}) +
         detail::PaddedRows{block.g, slice.inner}.elements();
}

// Where `block` pools, choice [samples * out_features] takes where the maxima were.
template <class Geometry>
void conv2d_block_forward(Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block, const float* x,
                          const float* w, const float* b, float* y, PoolChoice* choice, float* scratch) {
  if (!detail::in_rows(device, slice, block))
    return detail::forward_one_by_one(device, slice, block, x, w, b, y, choice, scratch);
  const Geometry& g = block.g;
  float *waiting = scratch, *rest = scratch + detail::waiting_elements(device, slice, block);
  for (index_t outer = 0; outer < slice.outer; ++outer, y += block.out_features() * slice.inner) {
    Correlation c =
        detail::forward_correlation(g, slice.inner, x + outer * g.in_features() * slice.inner, w, b, rest);
    if (block.activation == Activation::relu) c.least = 0;
    if (!block.pool) {
      c.y = y;
      c.y_channel = g.out_height * c.width;
      GPUNET_CALL_PATH(c.width, correlate, c, 0, g.out_height);
      continue;
    }
    const bool joined = detail::joins_rows(slice, block);
    const index_t rows = joined ? block.used_height() : 2, pitch = joined ? c.x_row : c.width;
    c.y = waiting;
    c.y_channel = rows * pitch;
    for (index_t row = 0; row < block.used_height(); row += rows) {
      if (joined)
        detail::correlate_joined(c, rows);
      else
        GPUNET_CALL_PATH(c.width, correlate, c, row, row + rows);
      for (index_t channel = 0; channel < g.out_channels; ++channel)
        for (index_t i = 0; i < rows; i += 2) {
          const index_t at = (channel * block.height() + (row + i) / 2) * block.width() * slice.inner;
          const float* above = waiting + channel * c.y_channel + i * pitch;
          detail::max_pool_rows(g.out_width, slice.inner, above, above + pitch, y + at, choice + at);
        }
    }
    if (choice) choice += block.out_features() * slice.inner;
  }
}

// dy is used up. dx may be null.
template <class Geometry>
void conv2d_block_backward(Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block, const float* x,
                           const float* y, const PoolChoice* choice, float* dy, const float* w, float* dx,
                           float* dw, float* db, Accumulate accumulate, float* scratch) {
  if (!detail::in_rows(device, slice, block))
    return detail::backward_one_by_one(device, slice, block, x, y, choice, dy, w, dx, dw, db, accumulate, scratch);
  const Geometry& g = block.g;
  const index_t out = block.out_features() * slice.inner, rows = detail::gradient_block(g, slice.inner);
  const detail::SpreadRows spread{g, slice.inner, block.used_height()};
  float *waiting = scratch, *image = scratch + detail::waiting_elements(device, slice, block);
  float* packed = image + detail::PaddedRows{g, slice.inner}.elements();
  float* frame = packed + detail::packed_elements(g.in_channels, g.out_channels, g.kernel);
  if (block.pool && block.activation == Activation::relu)
    rectify_gradient(device, slice.outer * out, y, dy, dy);  // pooled gradients of zeros go nowhere
  for (index_t outer = 0; outer < slice.outer; ++outer, y += out, dy += out) {
    const Correlation c = detail::over_input(g, slice.inner, x + outer * g.in_features() * slice.inner, image);
    for (index_t row = 0; row < block.used_height(); row += rows, accumulate = Accumulate::yes) {
      const index_t some = std::min(rows, block.used_height() - row);
      const GradientRows dz = detail::gradient_rows(device, slice, block, row, some, y, choice, dy, waiting);
      GPUNET_CALL_PATH(c.width, parameter_gradients, c, dz, dw, db, accumulate);
      if (dx) spread.fill(dz, frame);
    }
    if (dx) detail::correlate_gradient(spread, frame, w, dx + outer * g.in_features() * slice.inner, packed);
    if (choice) choice += out;
  }
}

}  // namespace gpunet
