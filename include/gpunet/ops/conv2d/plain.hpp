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

// The arguments of the forward pass of a convolution, or of a block: a convolution with activation
// and pooling.
template <class T, class Geometry = Conv2dGeometry>
struct Conv2dForwardArgs {
  Slice slice;
  Conv2dBlock<Geometry> block;    // a convolution alone reads no more of it than its sizes
  const T* x = nullptr;           // [in_features] per sample
  const T* w = nullptr;           // [out_channels, in_channels, kernel, kernel]
  OptionalArray<const T> b = {};  // [out_channels]
  T* y = nullptr;                 // [out_features] per sample
  T* scratch = nullptr;
  // [out_features] per sample where a block pools: where the maxima were.
  PoolChoice* choice = nullptr;

  // The same for kernels that serve any convolution.
  Conv2dForwardArgs<T> general() const {
    return {slice, {block.g, block.activation, block.pool}, x, w, b, y, scratch, choice};
  }
};

// The arguments of the backward pass.
template <class T, class Geometry = Conv2dGeometry>
struct Conv2dBackwardArgs {
  Slice slice;
  Conv2dBlock<Geometry> block;
  const T* x = nullptr;
  const T* y = nullptr;  // null where dy has gone through the ReLU already, or where there is none
  T* dy = nullptr;       // a block uses it up
  const T* w = nullptr;
  T* dx = nullptr;  // may be null
  T* dw = nullptr;
  OptionalArray<T> db = {};
  Accumulate accumulate = Accumulate::no;
  T* scratch = nullptr;
  const PoolChoice* choice = nullptr;
  bool rectify_dx = false;  // dx is 0 where x, which a ReLU made, is

  // The same for kernels that serve any convolution.
  Conv2dBackwardArgs<T> general() const {
    return {slice,     {block.g, block.activation, block.pool},
            x,         y,
            dy,        w,
            dx,        dw,
            db,        accumulate,
            scratch,   choice,
            rectify_dx};
  }
};

// y = x * w + b. One index = one element of y.
template <class T>
struct Conv2dForward {
  static constexpr bool one_copy = true;
  Conv2dGeometry g;
  index_t inner;
  const T *x, *w;
  OptionalArray<const T> b;
  T* y;

  GPUNET_FN void operator()(index_t i) const {
    const index_t j = i % inner, column = i / inner % g.out_width,
                  row = i / (inner * g.out_width) % g.out_height;
    const index_t channel = i / (inner * g.out_pixels()) % g.out_channels,
                  outer = i / (inner * g.out_features());
    const T* image = x + outer * g.in_features() * inner + j;
    const T* filter = w + channel * g.taps();
    T sum = b[channel];
    for (index_t c = 0; c < g.in_channels; ++c)
      for (index_t ky = 0; ky < g.kernel; ++ky) {
        const index_t iy = row * g.stride + ky - g.padding;
        if (iy < 0 || iy >= g.height) continue;
        for (index_t kx = 0; kx < g.kernel; ++kx) {
          const index_t ix = column * g.stride + kx - g.padding;
          if (ix < 0 || ix >= g.width) continue;
          sum += filter[(c * g.kernel + ky) * g.kernel + kx] *
                 image[((c * g.height + iy) * g.width + ix) * inner];
        }
      }
    y[i] = sum;
  }
};

// dx = dy * w, gathered. One index = one element of dx.
template <class T>
struct Conv2dInputGradient {
  static constexpr bool one_copy = true;
  Conv2dGeometry g;
  index_t inner;
  const T *dy, *w;
  T* dx;

  GPUNET_FN void operator()(index_t i) const {
    const index_t j = i % inner, column = i / inner % g.width,
                  row = i / (inner * g.width) % g.height;
    const index_t channel = i / (inner * g.width * g.height) % g.in_channels,
                  outer = i / (inner * g.in_features());
    const T* image = dy + outer * g.out_features() * inner + j;
    T sum{};
    for (index_t c = 0; c < g.out_channels; ++c)
      for (index_t ky = 0; ky < g.kernel; ++ky) {
        const index_t oy = row + g.padding - ky;
        if (oy < 0 || oy % g.stride != 0 || oy / g.stride >= g.out_height) continue;
        for (index_t kx = 0; kx < g.kernel; ++kx) {
          const index_t ox = column + g.padding - kx;
          if (ox < 0 || ox % g.stride != 0 || ox / g.stride >= g.out_width) continue;
          sum += w[((c * g.in_channels + channel) * g.kernel + ky) * g.kernel + kx] *
                 image[((c * g.out_height + oy / g.stride) * g.out_width + ox / g.stride) * inner];
        }
      }
    dx[i] = sum;
  }
};

// dw = sum over samples and positions of dy * x. One sum = one element of dw.
template <class T>
struct Conv2dWeightGradient {
  Conv2dGeometry g;
  index_t inner;
  const T *x, *dy;
  T* dw;
  Accumulate accumulate;

  GPUNET_FN T operator()(index_t i, index_t r) const {
    const index_t kx = i % g.kernel, ky = i / g.kernel % g.kernel,
                  c = i / (g.kernel * g.kernel) % g.in_channels;
    const index_t channel = i / g.taps();
    const index_t j = r % inner, column = r / inner % g.out_width,
                  row = r / (inner * g.out_width) % g.out_height;
    const index_t outer = r / (inner * g.out_pixels());
    const index_t iy = row * g.stride + ky - g.padding, ix = column * g.stride + kx - g.padding;
    if (iy < 0 || iy >= g.height || ix < 0 || ix >= g.width) return T{};
    return dy[(((outer * g.out_channels + channel) * g.out_height + row) * g.out_width + column) *
                  inner +
              j] *
           x[(((outer * g.in_channels + c) * g.height + iy) * g.width + ix) * inner + j];
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

  // The output positions along an axis for which one tap of the window is inside the image: first
  // to last - 1.
  struct Range {
    index_t first, last;
  };
  static Range places(index_t in, index_t out, index_t stride, index_t offset) {
    return {offset < 0 ? ceil_div(-offset, stride) : 0,
            in <= offset ? 0 : std::min(out, ceil_div(in - offset, stride))};
  }

  void operator()(index_t i) const {
    const index_t kx = i % g.kernel, ky = i / g.kernel % g.kernel,
                  c = i / (g.kernel * g.kernel) % g.in_channels;
    const index_t channel = i / g.taps(), top = ky - g.padding, left = kx - g.padding;
    const Range rows = places(g.height, g.out_height, g.stride, top);
    const Range columns = places(g.width, g.out_width, g.stride, left);
    T sum{};
    for (index_t outer = 0; outer < samples_outer; ++outer)
      for (index_t row = rows.first; row < rows.last; ++row) {
        const index_t out = ((outer * g.out_channels + channel) * g.out_height + row) * g.out_width;
        const index_t in =
            ((outer * g.in_channels + c) * g.height + row * g.stride + top) * g.width + left;
        for (index_t column = columns.first; column < columns.last; ++column)
          for (index_t j = 0; j < inner; ++j)
            sum += dy[(out + column) * inner + j] * x[(in + column * g.stride) * inner + j];
      }
    store_gradient(dw[i], sum, accumulate);
  }
};

// db = sum over samples and positions of dy. One sum = one output channel.
template <class T>
struct Conv2dBiasGradient {
  Conv2dGeometry g;
  index_t inner;
  const T* dy;
  OptionalArray<T> db;
  Accumulate accumulate;

  GPUNET_FN T operator()(index_t channel, index_t r) const {
    const index_t plane = g.out_pixels() * inner;
    return dy[(r / plane * g.out_channels + channel) * plane + r % plane];
  }
  GPUNET_FN void store(index_t channel, T sum) const {
    db.store_gradient(channel, sum, accumulate);
  }
};

// Returns the elements of T that the three functions below need as scratch memory.
template <class D, class T>
index_t conv2d_scratch(const D&, const Slice&, const Conv2dGeometry&, T) {
  return 0;
}

template <class D, class T, class Geometry>
void conv2d_forward(D& device, const Conv2dForwardArgs<T, Geometry>& a) {
  const Conv2dGeometry& g = a.block.g;
  for_each(device, a.slice.samples() * g.out_features(),
           Conv2dForward<T>{g, a.slice.inner, a.x, a.w, a.b, a.y});
}

template <class D, class T, class Geometry>
void conv2d_backward_input(D& device, const Conv2dBackwardArgs<T, Geometry>& a) {
  const Conv2dGeometry& g = a.block.g;
  for_each(device, a.slice.samples() * g.in_features(),
           Conv2dInputGradient<T>{g, a.slice.inner, a.dy, a.w, a.dx});
}

template <class D, class T, class Geometry>
void conv2d_backward_parameters(D& device, const Conv2dBackwardArgs<T, Geometry>& a) {
  const Conv2dGeometry& g = a.block.g;
  const index_t length = a.slice.samples() * g.out_pixels();
  if constexpr (DeviceTraits<D>::has_host_memory)
    for_each(device, g.out_channels * g.taps(),
             Conv2dWeightGradientLoops<T>{g, a.slice.outer, a.slice.inner, a.x, a.dy, a.dw,
                                          a.accumulate});
  else
    sum_each(device, g.out_channels * g.taps(), length,
             Conv2dWeightGradient<T>{g, a.slice.inner, a.x, a.dy, a.dw, a.accumulate});
  if (a.db)
    sum_each(device, g.out_channels, length,
             Conv2dBiasGradient<T>{g, a.slice.inner, a.dy, a.db, a.accumulate});
}

}  // namespace gpunet
