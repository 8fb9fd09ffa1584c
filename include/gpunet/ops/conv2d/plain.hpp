// Two-dimensional convolution (cross-correlation, as torch.nn.Conv2d): the plain single-source
// version.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/device/device.hpp>
#include <gpunet/device/traits.hpp>
#include <gpunet/ops/conv2d/geometry.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

namespace detail {

// The offsets of one group of channels of one group of samples in the arrays of a convolution.
struct GroupOffsets {
  index_t ins, outs;  // channels
  index_t x, y, w;    // elements

  GroupOffsets(const Conv2dGeometry& g, index_t inner, index_t outer, index_t group)
      : ins(group * g.ins()),
        outs(group * g.outs()),
        x((outer * g.in_channels + ins) * g.in_pixels() * inner),
        y((outer * g.out_channels + outs) * g.out_pixels() * inner),
        w(outs * g.taps()) {}
};

}  // namespace detail

// The arguments of the forward pass of a convolution, or of a block: a convolution with activation
// and pooling.
template <class T, class Geometry = Conv2dGeometry>
struct Conv2dForwardArgs {
  Slice slice;
  Conv2dBlock<Geometry> block;
  const T* x = nullptr;           // [in_features] per sample
  const T* w = nullptr;           // [out_channels, ins, kernel rows, kernel columns]
  OptionalArray<const T> b = {};  // [out_channels]
  T* y = nullptr;                 // [out_features] per sample
  T* scratch = nullptr;
  // [out_features] per sample if a block pools: the places of the maxima.
  PoolChoice* choice = nullptr;

  // Returns the same for kernels of any convolution.
  Conv2dForwardArgs<T> general() const {
    return {slice, {block.g, block.activation, block.pool, block.bounds}, x, w, b, y, scratch,
            choice};
  }
  // Returns the arguments of one group of channels, whose arrays begin at a group of samples.
  Conv2dForwardArgs of_group(index_t outer, index_t group) const {
    const detail::GroupOffsets at(block.g, slice.inner, outer, group);
    Conv2dBlock<Geometry> one = block;
    one.g = Geometry{block.g.of_group()};
    return {slice, one, x + at.x, w + at.w, b + at.outs, y + at.y, scratch};
  }
};

// The arguments of the backward pass.
template <class T, class Geometry = Conv2dGeometry>
struct Conv2dBackwardArgs {
  Slice slice;
  Conv2dBlock<Geometry> block;
  const T* x = nullptr;
  const T* y = nullptr;  // null if dy has gone through the ReLU, or without one
  T* dy = nullptr;       // a block uses it up
  const T* w = nullptr;
  T* dx = nullptr;  // may be null
  T* dw = nullptr;
  OptionalArray<T> db = {};
  Accumulate accumulate = Accumulate::no;
  T* scratch = nullptr;
  const PoolChoice* choice = nullptr;
  bool rectify_dx = false;        // dx is 0 where x, the output of a ReLU, is 0
  OptionalArray<const T> b = {};  // [in_channels], added to dx: of a transposed convolution

  // Returns the same for kernels of any convolution.
  Conv2dBackwardArgs<T> general() const {
    return {slice,      {block.g, block.activation, block.pool},
            x,          y,
            dy,         w,
            dx,         dw,
            db,         accumulate,
            scratch,    choice,
            rectify_dx, b};
  }
  // Returns the same of one group of channels, whose arrays begin at a group of samples. Gradients
  // of the parameters accumulate over the groups of samples.
  Conv2dBackwardArgs of_group(index_t outer, index_t group) const {
    const detail::GroupOffsets at(block.g, slice.inner, outer, group);
    Conv2dBackwardArgs one{slice, {Geometry{block.g.of_group()}}};
    if (x) one.x = x + at.x;
    one.dy = dy + at.y;
    if (w) one.w = w + at.w;
    if (dx) one.dx = dx + at.x;
    if (dw) one.dw = dw + at.w;
    one.db = db + at.outs;
    one.accumulate = outer > 0 ? Accumulate::yes : accumulate;
    one.scratch = scratch;
    one.b = b + at.ins;
    return one;
  }
};

// y = clamp(x * w + b). One index = one element of y.
template <class T>
struct Conv2dForward {
  static constexpr bool one_copy = true;
  Conv2dGeometry g;
  index_t inner;
  const T *x, *w;
  OptionalArray<const T> b;
  Clamp<T> clamp;
  T* y;

  GPUNET_FN void operator()(index_t i) const {
    const index_t j = i % inner, column = i / inner % g.columns.outputs;
    const index_t row = i / (inner * g.columns.outputs) % g.rows.outputs;
    const index_t channel = i / (inner * g.out_pixels()) % g.out_channels,
                  outer = i / (inner * g.out_features());
    const index_t first_in = channel / g.outs() * g.ins();
    const T* image = x + (outer * g.in_channels + first_in) * g.in_pixels() * inner + j;
    const T* filter = w + channel * g.taps();
    T sum = b[channel];
    for (index_t ky = 0; ky < g.rows.kernel; ++ky) {
      const index_t iy = g.rows.source(row, ky);
      if (iy < 0 || iy >= g.rows.size) continue;
      for (index_t kx = 0; kx < g.columns.kernel; ++kx) {
        const index_t ix = g.columns.source(column, kx);
        if (ix < 0 || ix >= g.columns.size) continue;
        for (index_t c = 0; c < g.ins(); ++c)
          sum += filter[(c * g.rows.kernel + ky) * g.columns.kernel + kx] *
                 image[((c * g.rows.size + iy) * g.columns.size + ix) * inner];
      }
    }
    y[i] = clamp(sum);
  }
};

// dx = dy * w + b, gathered; an input gradient has no b, the output of a transposed convolution
// may. One index = one element of dx.
template <class T>
struct Conv2dInputGradient {
  static constexpr bool one_copy = true;
  Conv2dGeometry g;
  index_t inner;
  const T *dy, *w;
  OptionalArray<const T> b;
  T* dx;

  GPUNET_FN void operator()(index_t i) const {
    const index_t j = i % inner, column = i / inner % g.columns.size;
    const index_t row = i / (inner * g.columns.size) % g.rows.size;
    const index_t channel = i / (inner * g.in_pixels()) % g.in_channels,
                  outer = i / (inner * g.in_features());
    const index_t first_out = channel / g.ins() * g.outs();
    const T* image = dy + (outer * g.out_channels + first_out) * g.out_pixels() * inner + j;
    const T* filter = w + first_out * g.taps() + channel % g.ins() * g.area();
    T sum = b[channel];
    for (index_t ky = 0; ky < g.rows.kernel; ++ky) {
      const index_t oy = g.rows.target(row, ky);
      if (oy < 0) continue;
      for (index_t kx = 0; kx < g.columns.kernel; ++kx) {
        const index_t ox = g.columns.target(column, kx);
        if (ox < 0) continue;
        for (index_t c = 0; c < g.outs(); ++c)
          sum += filter[c * g.taps() + ky * g.columns.kernel + kx] *
                 image[((c * g.rows.outputs + oy) * g.columns.outputs + ox) * inner];
      }
    }
    dx[i] = sum;
  }
};

// dw = sum over samples and positions of dy x. One sum = one element of dw.
template <class T>
struct Conv2dWeightGradient {
  Conv2dGeometry g;
  index_t inner;
  const T *x, *dy;
  T* dw;
  Accumulate accumulate;

  GPUNET_FN T operator()(index_t i, index_t r) const {
    const index_t kx = i % g.columns.kernel, ky = i / g.columns.kernel % g.rows.kernel;
    const index_t channel = i / g.taps(),
                  in = channel / g.outs() * g.ins() + i / g.area() % g.ins();
    const index_t j = r % inner, column = r / inner % g.columns.outputs;
    const index_t row = r / (inner * g.columns.outputs) % g.rows.outputs,
                  outer = r / (inner * g.out_pixels());
    const index_t iy = g.rows.source(row, ky), ix = g.columns.source(column, kx);
    if (iy < 0 || iy >= g.rows.size || ix < 0 || ix >= g.columns.size) return T{};
    return dy[(((outer * g.out_channels + channel) * g.rows.outputs + row) * g.columns.outputs +
               column) *
                  inner +
              j] *
           x[(((outer * g.in_channels + in) * g.rows.size + iy) * g.columns.size + ix) * inner + j];
  }
  GPUNET_FN void store(index_t i, T sum) const { store_gradient(dw[i], sum, accumulate); }
};

// The same as loops without bounds checks, for devices with few threads. One index = one element of
// dw.
template <class T>
struct Conv2dWeightGradientLoops {
  static constexpr bool one_copy = true;
  Conv2dGeometry g;
  index_t samples_outer, inner;
  const T *x, *dy;
  T* dw;
  Accumulate accumulate;

  // The outputs of an axis that read an element of it by a tap: first to last - 1.
  struct Range {
    index_t first, last;
  };
  static Range outputs_of(const ConvAxis& axis, index_t tap) {
    const index_t offset = axis.source(0, tap);
    return {offset < 0 ? ceil_div(-offset, axis.stride) : 0,
            axis.size <= offset
                ? 0
                : std::min(axis.outputs, ceil_div(axis.size - offset, axis.stride))};
  }

  void operator()(index_t i) const {
    const index_t kx = i % g.columns.kernel, ky = i / g.columns.kernel % g.rows.kernel;
    const index_t channel = i / g.taps(),
                  in = channel / g.outs() * g.ins() + i / g.area() % g.ins();
    const Range rows = outputs_of(g.rows, ky), columns = outputs_of(g.columns, kx);
    T sum{};
    for (index_t outer = 0; outer < samples_outer; ++outer)
      for (index_t row = rows.first; row < rows.last; ++row) {
        const index_t to =
            ((outer * g.out_channels + channel) * g.rows.outputs + row) * g.columns.outputs;
        const index_t from =
            ((outer * g.in_channels + in) * g.rows.size + g.rows.source(row, ky)) * g.columns.size +
            g.columns.source(0, kx);
        for (index_t column = columns.first; column < columns.last; ++column)
          for (index_t j = 0; j < inner; ++j)
            sum +=
                dy[(to + column) * inner + j] * x[(from + column * g.columns.stride) * inner + j];
      }
    store_gradient(dw[i], sum, accumulate);
  }
};

// db = sum over samples and positions of dy [channel][pixel]. One sum = one channel.
template <class T>
struct Conv2dBiasGradient {
  index_t channels, plane;  // plane: pixels x inner
  const T* dy;
  T* db;
  Accumulate accumulate;

  GPUNET_FN T operator()(index_t channel, index_t r) const {
    return dy[(r / plane * channels + channel) * plane + r % plane];
  }
  GPUNET_FN void store(index_t channel, T sum) const {
    store_gradient(db[channel], sum, accumulate);
  }
};

// Returns the elements of T that the functions below need as scratch memory.
template <class D, class T>
index_t conv2d_scratch(const D&, const Slice&, const Conv2dGeometry&, T) {
  return 0;
}

// y = clamp(x * w + b).
template <class D, class T, class Geometry>
void conv2d_forward(D& device, const Conv2dForwardArgs<T, Geometry>& a) {
  const Conv2dGeometry& g = a.block.g;
  for_each(device, a.slice.samples() * g.out_features(),
           Conv2dForward<T>{g, a.slice.inner, a.x, a.w, a.b, a.block.template clamp<T>(), a.y});
}

template <class D, class T, class Geometry>
void conv2d_backward_input(D& device, const Conv2dBackwardArgs<T, Geometry>& a) {
  const Conv2dGeometry& g = a.block.g;
  for_each(device, a.slice.samples() * g.in_features(),
           Conv2dInputGradient<T>{g, a.slice.inner, a.dy, a.w, a.b, a.dx});
}

// db = sum of dy, the gradient of [channels, pixels] per sample.
template <class D, class T>
void conv2d_backward_bias(D& device, const Slice& slice, index_t channels, index_t pixels,
                          const T* dy, T* db, Accumulate accumulate) {
  sum_each(device, channels, slice.samples() * pixels,
           Conv2dBiasGradient<T>{channels, pixels * slice.inner, dy, db, accumulate});
}

// dw = sum of dy x, without db.
template <class D, class T, class Geometry>
void conv2d_backward_weight(D& device, const Conv2dBackwardArgs<T, Geometry>& a) {
  const Conv2dGeometry& g = a.block.g;
  const index_t length = a.slice.samples() * g.out_pixels();
  if constexpr (DeviceTraits<D>::has_host_memory)
    for_each(device, g.out_channels * g.taps(),
             Conv2dWeightGradientLoops<T>{g, a.slice.outer, a.slice.inner, a.x, a.dy, a.dw,
                                          a.accumulate});
  else
    sum_each(device, g.out_channels * g.taps(), length,
             Conv2dWeightGradient<T>{g, a.slice.inner, a.x, a.dy, a.dw, a.accumulate});
}

template <class D, class T, class Geometry>
void conv2d_backward_parameters(D& device, const Conv2dBackwardArgs<T, Geometry>& a) {
  conv2d_backward_weight<D, T, Geometry>(device, a);
  if (a.db)
    conv2d_backward_bias(device, a.slice, a.block.g.out_channels, a.block.g.out_pixels(), a.dy,
                         a.db.data(), a.accumulate);
}

}  // namespace gpunet
