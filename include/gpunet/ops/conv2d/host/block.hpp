// A convolution on Host with the ReLU and the pooling behind it: row by row, while the rows are in
// the L1 cache, or as three ops one after another.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include <gpunet/ops/conv2d/host/direct.hpp>
#include <gpunet/ops/conv2d/host/wide.hpp>
#include <gpunet/ops/max_pool2d/host/windows.hpp>

namespace gpunet {

namespace detail {

// A block on one group of samples, row by row.
struct RowBlock : Conv2dBlock<Conv2dGeometry> {
  index_t inner;

  // Floats of scratch: rows of the convolution that wait to be pooled, or of its gradient; x in
  // order; the scratch of a convolution.
  index_t waiting() const {
    const index_t rows =
        std::min(gradient_block(g, inner), g.rows.outputs + 1) * g.columns.outputs * inner;
    return g.out_channels *
           std::max(rows, joins_rows() ? used_height() * g.columns.size * inner : 0);
  }
  index_t image() const { return PaddedRows{g, inner}.elements(); }
  index_t scratch() const { return waiting() + image() + direct_scratch({inner, 1, inner}, g); }

  // Returns whether rows are so short that one long row is faster.
  bool joins_rows() const {
    constexpr index_t short_row = 16;  // the widest vector
    return pool && g.rows.stride == 1 && g.rows.padding == 0 && !PaddedRows{g, inner}.needed() &&
           g.rows.padded() == g.rows.size && g.columns.outputs * inner < short_row;
  }
};

// Computes all rows of a correlation of stride 1 without padding as one, as long as the rows of x;
// elements between the rows of the result are meaningless.
inline void correlate_joined(Correlation c, index_t rows) {
  c.width += (rows - 1) * c.x_row;
  c.data_end = std::numeric_limits<index_t>::max() / 2;
  GPUNET_CALL_PATH(c.width, correlate, c, 0, 1);
}

// Computes one group of samples: y [out_features][inner], and the places of the maxima.
inline void forward_in_rows(const RowBlock& block, const Conv2dForwardArgs<float>& a) {
  const Conv2dGeometry& g = block.g;
  float* waiting = a.scratch;
  Correlation c = forward_correlation(g, block.inner, a.x, a.w, a.b, a.scratch + block.waiting());
  c.clamp = block.clamp<float>();
  if (!block.pool) {
    c.y = a.y;
    c.y_channel = g.rows.outputs * c.width;
    GPUNET_CALL_PATH(c.width, correlate, c, 0, g.rows.outputs);
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
        max_pool_rows(g.columns.outputs, block.inner, above, above + pitch, a.y + at,
                      a.choice + at);
      }
  }
}

// Returns rows `first` to `first + rows` of the convolution's gradient, in `waiting` if the block
// pools.
inline GradientRows gradient_rows(const RowBlock& block, index_t first, index_t rows,
                                  const Conv2dBackwardArgs<float>& a, float* waiting) {
  const index_t width = block.g.columns.outputs * block.inner,
                out_width = block.width() * block.inner;
  const index_t plane = block.height() * out_width, out_rows = block.pool ? rows / 2 : rows;
  const index_t begin = (block.pool ? first / 2 : first) * out_width;
  if (!block.pool) return {a.dy + begin, plane, first, rows, width};
  for (index_t channel = 0; channel < block.g.out_channels; ++channel) {
    const index_t at = channel * plane + begin;
    float* to = waiting + channel * rows * width;
    for (index_t i = 0; i < out_rows; ++i)
      max_pool_rows_backward(block.g.columns.outputs, block.inner, a.dy + at + i * out_width,
                             a.choice + at + i * out_width, to + 2 * i * width);
  }
  return {waiting, rows * width, first, rows, width};
}

// Computes one group of samples: dx [in_features][inner] and dw, unless they are null.
inline void backward_in_rows(Host& device, const RowBlock& block,
                             const Conv2dBackwardArgs<float>& a) {
  const Conv2dGeometry& g = block.g;
  const index_t rows = gradient_block(g, block.inner);
  const SpreadRows spread{g, block.inner, block.used_height()};
  float *waiting = a.scratch, *image = waiting + block.waiting(), *packed = image + block.image();
  float* frame = packed + packed_elements(g.in_channels, g.out_channels, g.area());
  if (block.activation == Activation::relu)
    rectify_gradient(device, block.out_features() * block.inner, a.y, a.dy, a.dy);
  const Correlation c = over_input(g, block.inner, a.x, image);
  Accumulate accumulate = a.accumulate;
  for (index_t row = 0; row < block.used_height(); row += rows, accumulate = Accumulate::yes) {
    const index_t some = std::min(rows, block.used_height() - row);
    const GradientRows dz = gradient_rows(block, row, some, a, waiting);
    if (a.dw) GPUNET_CALL_PATH(c.width, weight_gradient, c, dz, a.dw, accumulate);
    if (a.dx) spread.fill(dz, frame);
  }
  if (a.dx) correlate_gradient(device, false, spread, frame, a.w, {}, a.dx, packed);
}

// Returns whether the block runs row by row; else it is three ops one after another, which give the
// same bits and share the rows of a single group among the threads.
template <class Geometry>
bool in_rows(const Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block) {
  return (slice.outer > 1 || conv2d_workers(device, slice, block.g) == 1) &&
         algorithm_of(device, slice, block.g) == ConvAlgorithm::rows &&
         has_vector_rows(block.g, slice.inner);
}

// A slice of many groups of samples whose blocks run row by row. Groups are shared among the
// threads; gradients of the parameters are summed in parts whose number depends on the slice alone,
// so results are bitwise identical for any number of threads.
struct RowBlocks {
  RowBlock block;
  Slice slice;
  index_t workers;  // each with scratch of its own

  template <class Geometry>
  RowBlocks(const Host& device, const Slice& s, const Conv2dBlock<Geometry>& b)
      : block{{b.g, b.activation, b.pool, b.bounds}, s.inner},
        slice(s),
        workers(conv2d_workers(device, s, b.g)) {}

  static constexpr index_t most_parts = 8;
  index_t parts() const {
    return is_shared(slice, block.g) ? std::min(slice.outer, most_parts) : 1;
  }
  index_t first_group(index_t part) const { return part * slice.outer / parts(); }
  index_t inputs() const { return block.g.in_features() * slice.inner; }
  index_t outputs() const { return block.out_features() * slice.inner; }
  index_t weights() const { return block.g.out_channels * block.g.taps(); }
  index_t worker_size() const { return round_up(block.scratch(), 16); }
  index_t scratch() const { return workers * worker_size() + (parts() - 1) * weights(); }
};

inline void forward_in_rows(Host& device, const RowBlocks& all, const Conv2dForwardArgs<float>& a) {
  const index_t size = all.worker_size();
  device.run_if(all.workers > 1, all.slice.outer, [=, &all, &a](index_t group, int worker) {
    Conv2dForwardArgs<float> one = a;
    one.x = a.x + group * all.inputs();
    one.y = a.y + group * all.outputs();
    if (all.block.pool) one.choice = a.choice + group * all.outputs();
    one.scratch = a.scratch + worker * size;
    forward_in_rows(all.block, one);
  });
}

inline void backward_in_rows(Host& device, const RowBlocks& all,
                             const Conv2dBackwardArgs<float>& a) {
  const index_t size = all.worker_size(), weights = all.weights();
  float* const parts = a.scratch + all.workers * size;
  device.run_if(all.workers > 1, all.parts(), [=, &all, &a, &device](index_t part, int worker) {
    Conv2dBackwardArgs<float> one = a;
    one.scratch = a.scratch + worker * size;
    if (part > 0 && a.dw) {
      one.dw = parts + (part - 1) * weights;
      one.accumulate = Accumulate::no;
    }
    for (index_t group = all.first_group(part); group < all.first_group(part + 1); ++group) {
      one.x = a.x + group * all.inputs();
      if (a.y) one.y = a.y + group * all.outputs();
      one.dy = a.dy + group * all.outputs();
      if (all.block.pool) one.choice = a.choice + group * all.outputs();
      if (a.dx) one.dx = a.dx + group * all.inputs();
      backward_in_rows(device, all.block, one);
      one.accumulate = Accumulate::yes;
    }
  });
  if (!a.dw) return;
  const float* from = parts;
  for (index_t part = 1; part < all.parts(); ++part, from += weights)
    for (index_t i = 0; i < weights; ++i)
      a.dw[i] += from[i];
}

// Returns the number of elements of the convolution's output, or of its gradient, that wait in
// scratch where ops go one by one.
template <class Geometry>
index_t waiting_elements(const Slice& slice, const Conv2dBlock<Geometry>& block) {
  return block.pool ? slice.samples() * block.g.out_features() : 0;
}

template <class Geometry>
void forward_one_by_one(Host& device, const Conv2dForwardArgs<float, Geometry>& a) {
  const Conv2dBlock<Geometry>& block = a.block;
  Conv2dForwardArgs<float, Geometry> convolution = a;
  if (block.pool) convolution.y = a.scratch;
  convolution.scratch = a.scratch + waiting_elements(a.slice, block);
  conv2d_forward(device, convolution);
  if (block.pool)
    max_pool2d_forward(device, a.slice, block.pooling(block.g.rows.outputs), convolution.y, a.y,
                       a.choice);
}

template <class Geometry>
void backward_one_by_one(Host& device, const Conv2dBackwardArgs<float, Geometry>& a) {
  const Conv2dBlock<Geometry>& block = a.block;
  if (block.activation == Activation::relu)
    rectify_gradient(device, a.slice.samples() * block.out_features(), a.y, a.dy, a.dy);
  Conv2dBackwardArgs<float, Geometry> convolution = a;
  if (block.pool) {
    convolution.dy = a.scratch;
    max_pool2d_backward(device, a.slice, block.pooling(block.g.rows.outputs), a.dy, a.choice,
                        convolution.dy);
  }
  convolution.scratch = a.scratch + waiting_elements(a.slice, block);
  if (a.dw) conv2d_backward_weight(device, convolution);
  if (a.dx) conv2d_backward_input(device, convolution);
}

}  // namespace detail

// Returns the elements of scratch that the two functions below need.
template <class Geometry>
index_t conv2d_block_scratch(const Host& device, const Slice& slice,
                             const Conv2dBlock<Geometry>& block, float = {}) {
  if (detail::in_rows(device, slice, block))
    return detail::RowBlocks(device, slice, block).scratch();
  return detail::waiting_elements(slice, block) + conv2d_scratch(device, slice, block.g, float{});
}

// y = pool(activation(x * w + b)).
template <class Geometry>
void conv2d_block_forward(Host& device, const Conv2dForwardArgs<float, Geometry>& a) {
  if (detail::in_rows(device, a.slice, a.block))
    detail::forward_in_rows(device, {device, a.slice, a.block}, a.general());
  else
    detail::forward_one_by_one(device, a);
}

template <class Geometry>
void conv2d_block_backward(Host& device, const Conv2dBackwardArgs<float, Geometry>& a) {
  if (detail::in_rows(device, a.slice, a.block))
    detail::backward_in_rows(device, {device, a.slice, a.block}, a.general());
  else
    detail::backward_one_by_one(device, a);
  // dy is rectified now, and a pooled gradient is that of one element of the convolution.
  if (a.dw && a.db)
    conv2d_backward_bias(device, a.slice, a.block.g.out_channels,
                         a.block.height() * a.block.width(), a.dy, a.db.data(), a.accumulate);
  if (a.dx && a.rectify_dx)
    rectify_gradient(device, a.slice.samples() * a.block.g.in_features(), a.x, a.dx, a.dx);
}

}  // namespace gpunet
