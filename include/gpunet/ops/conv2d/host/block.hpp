// A convolution on Host with the ReLU and the pooling behind it: row by row, while the rows are in the L1 cache, or as three
// ops one after another.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include <gpunet/ops/conv2d/host/direct.hpp>
#include <gpunet/ops/conv2d/host/wide.hpp>
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

// Whether the block can go row by row; else it is three ops one after another.
template <class Geometry>
bool in_rows(const Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block) {
  return !wide_pays(device, slice, block.g) && has_vector_rows(block.g, block.g.out_width, slice.inner) &&
         has_vector_rows(block.g, block.g.width, slice.inner);
}

// A slice of many groups of samples whose blocks go row by row. Groups are shared among the threads; gradients of the
// parameters are summed in parts whose number depends on the slice alone, so that their bits do, too.
struct RowBlocks {
  RowBlock block;
  Slice slice;
  index_t workers;  // each with scratch of its own

  template <class Geometry>
  RowBlocks(const Host& device, const Slice& s, const Conv2dBlock<Geometry>& b)
      : block{{b.g, b.activation, b.pool}, s.inner}, slice(s), workers(conv2d_workers(device, s, b.g)) {}

  static constexpr index_t most_parts = 8;
  index_t parts() const { return is_shared(slice, block.g) ? std::min(slice.outer, most_parts) : 1; }
  index_t first_group(index_t part) const { return part * slice.outer / parts(); }
  index_t inputs() const { return block.g.in_features() * slice.inner; }
  index_t outputs() const { return block.out_features() * slice.inner; }
  index_t weights() const { return block.g.out_channels * block.g.taps(); }
  index_t part_size() const { return weights() + block.g.out_channels; }
  index_t worker_size(const Host& device) const { return round_up(block.scratch(device), 16); }
  index_t scratch(const Host& device) const { return workers * worker_size(device) + (parts() - 1) * part_size(); }
};

inline void forward_in_rows(Host& device, const RowBlocks& all, const float* x, const float* w, const float* b,
                            float* y, PoolChoice* choice, float* scratch) {
  const index_t size = all.worker_size(device);
  device.run_if(all.workers > 1, all.slice.outer, [=, &all](index_t group, int worker) {
    forward_in_rows(all.block, x + group * all.inputs(), w, b, y + group * all.outputs(),
                    choice ? choice + group * all.outputs() : nullptr, scratch + worker * size);
  });
}

inline void backward_in_rows(Host& device, const RowBlocks& all, const float* x, const float* y,
                             const PoolChoice* choice, float* dy, const float* w, float* dx, float* dw, float* db,
                             Accumulate accumulate, float* scratch) {
  const index_t size = all.worker_size(device), weights = all.weights();
  float* parts = scratch + all.workers * size;
  device.run_if(all.workers > 1, all.parts(), [=, &all, &device](index_t part, int worker) {
    float* part_dw = part == 0 ? dw : parts + (part - 1) * all.part_size();
    float* part_db = part == 0 ? db : part_dw + weights;
    Accumulate mode = part == 0 ? accumulate : Accumulate::no;
    for (index_t group = all.first_group(part); group < all.first_group(part + 1); ++group, mode = Accumulate::yes)
      backward_in_rows(device, all.block, x + group * all.inputs(), y + group * all.outputs(),
                       choice ? choice + group * all.outputs() : nullptr, dy + group * all.outputs(), w,
                       dx ? dx + group * all.inputs() : nullptr, part_dw, part_db, mode, scratch + worker * size);
  });
  for (index_t part = 1; part < all.parts(); ++part, parts += all.part_size()) {
    for (index_t i = 0; i < weights; ++i)
      dw[i] += parts[i];
    for (index_t i = 0; i < all.block.g.out_channels; ++i)
      db[i] += parts[weights + i];
  }
}

// Elements of the convolution's output, or of its gradient, that wait in scratch where ops go one by one.
template <class Geometry>
index_t waiting_elements(const Slice& slice, const Conv2dBlock<Geometry>& block) {
  return block.pool ? slice.samples() * block.g.out_features() : 0;
}

template <class Geometry>
void forward_one_by_one(Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block, const float* x,
                        const float* w, const float* b, float* y, PoolChoice* choice, float* scratch) {
  const Geometry& g = block.g;
  float* z = block.pool ? scratch : y;
  conv2d_forward(device, slice, g, x, w, b, z, scratch + waiting_elements(slice, block));
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
  scratch += waiting_elements(slice, block);
  conv2d_backward_parameters(device, slice, g, x, dz, dw, db, accumulate, scratch);
  if (dx) conv2d_backward_input(device, slice, g, dz, w, dx, scratch);
}

}  // namespace detail

// Elements of scratch that the two functions below need.
template <class Geometry>
index_t conv2d_block_scratch(const Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block,
                             float = {}) {
  if (detail::in_rows(device, slice, block)) return detail::RowBlocks(device, slice, block).scratch(device);
  return detail::waiting_elements(slice, block) + conv2d_scratch(device, slice, block.g, float{});
}

// Where `block` pools, choice [samples * out_features] takes where the maxima were.
template <class Geometry>
void conv2d_block_forward(Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block, const float* x,
                          const float* w, const float* b, float* y, PoolChoice* choice, float* scratch) {
  if (detail::in_rows(device, slice, block))
    detail::forward_in_rows(device, {device, slice, block}, x, w, b, y, block.pool ? choice : nullptr, scratch);
  else
    detail::forward_one_by_one(device, slice, block, x, w, b, y, choice, scratch);
}

// dy is used up. dx may be null. rectify_dx: dx is 0 where x, which a ReLU made, is.
template <class Geometry>
void conv2d_block_backward(Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block, const float* x,
                           const float* y, const PoolChoice* choice, float* dy, const float* w, float* dx,
                           float* dw, float* db, Accumulate accumulate, float* scratch, bool rectify_dx = false) {
  if (detail::in_rows(device, slice, block))
    detail::backward_in_rows(device, {device, slice, block}, x, y, block.pool ? choice : nullptr, dy, w, dx, dw, db,
                             accumulate, scratch);
  else
    detail::backward_one_by_one(device, slice, block, x, y, choice, dy, w, dx, dw, db, accumulate, scratch);
  if (dx && rectify_dx) rectify_gradient(device, slice.samples() * block.g.in_features(), x, dx, dx);
}

}  // namespace gpunet
