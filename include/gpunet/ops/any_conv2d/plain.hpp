// Convolution with groups, dilation and rectangles, and its transpose: the plain single-source
// version.
#pragma once

#include <gpunet/ops/any_conv2d/geometry.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// The arrays of a convolution between x and y; arrays that are written are not const in the
// functions below.
template <class T>
struct AnyConv2dArgs {
  Slice slice;
  AnyConv2dGeometry g;
  const T* w = nullptr;
  OptionalArray<const T> b = {};  // of the channels of the result
  T* scratch = nullptr;
};

// y = x * w + b. One index = one element of y.
template <class T>
struct AnyConv2dForward {
  static constexpr bool one_copy = true;
  AnyConv2dGeometry g;
  index_t inner;
  const T *x, *w;
  OptionalArray<const T> b;
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
    y[i] = sum;
  }
};

// dx = dy * w + b, gathered; an input gradient has no b, the output of a transposed convolution
// may. One index = one element of dx.
template <class T>
struct AnyConv2dInputGradient {
  static constexpr bool one_copy = true;
  AnyConv2dGeometry g;
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
struct AnyConv2dWeightGradient {
  AnyConv2dGeometry g;
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

// db = sum over samples and positions of dy [channel][pixel]. One sum = one channel.
template <class T>
struct AnyConv2dBiasGradient {
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
index_t any_conv2d_scratch(const D&, const Slice&, const AnyConv2dGeometry&, T) {
  return 0;
}

// y = x * w + b.
template <class D, class T>
void any_conv2d_forward(D& device, const AnyConv2dArgs<T>& a, const T* x, T* y) {
  for_each(device, a.slice.samples() * a.g.out_features(),
           AnyConv2dForward<T>{a.g, a.slice.inner, x, a.w, a.b, y});
}

// dx = dy * w + b.
template <class D, class T>
void any_conv2d_backward_input(D& device, const AnyConv2dArgs<T>& a, const T* dy, T* dx) {
  for_each(device, a.slice.samples() * a.g.in_features(),
           AnyConv2dInputGradient<T>{a.g, a.slice.inner, dy, a.w, a.b, dx});
}

// dw = sum of dy x.
template <class D, class T>
void any_conv2d_backward_weight(D& device, const AnyConv2dArgs<T>& a, const T* x, const T* dy,
                                T* dw, Accumulate accumulate) {
  sum_each(device, a.g.out_channels * a.g.taps(), a.slice.samples() * a.g.out_pixels(),
           AnyConv2dWeightGradient<T>{a.g, a.slice.inner, x, dy, dw, accumulate});
}

// db = sum of dy, the gradient of [channels, pixels] per sample.
template <class D, class T>
void any_conv2d_backward_bias(D& device, const Slice& slice, index_t channels, index_t pixels,
                              const T* dy, T* db, Accumulate accumulate) {
  sum_each(device, channels, slice.samples() * pixels,
           AnyConv2dBiasGradient<T>{channels, pixels * slice.inner, dy, db, accumulate});
}

}  // namespace gpunet
