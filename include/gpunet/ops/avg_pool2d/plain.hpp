// Mean over windows, as torch.nn.AvgPool2d and AdaptiveAvgPool2d: the plain single-source version.
#pragma once

#include <gpunet/core/long_sum.hpp>
#include <gpunet/ops/avg_pool2d/geometry.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// y = mean of its window. One index = one element of y.
template <class T>
struct AvgPool2dForward {
  static constexpr bool one_copy = true;
  AvgPool2dGeometry g;
  index_t inner;
  const T* x;
  T* y;

  GPUNET_FN void operator()(index_t i) const {
    const index_t j = i % inner, column = i / inner % g.columns.outputs;
    const index_t row = i / (inner * g.columns.outputs) % g.rows.outputs;
    const index_t plane = i / (inner * g.columns.outputs * g.rows.outputs);
    const T* image = x + plane * g.rows.size * g.columns.size * inner + j;
    const index_t row_end = g.rows.end(row), begin = g.columns.begin(column),
                  end = g.columns.end(column);
    LongSum<T> sum;
    for (index_t iy = g.rows.begin(row); iy < row_end; ++iy)
      for (index_t ix = begin; ix < end; ++ix)
        sum += image[(iy * g.columns.size + ix) * inner];
    y[i] = sum.value() / static_cast<T>(g.rows.length(row) * g.columns.length(column));
  }
};

// dx = sum of dy / length over the windows that have this element. One index = one element of dx.
template <class T>
struct AvgPool2dBackward {
  static constexpr bool one_copy = true;
  AvgPool2dGeometry g;
  index_t inner;
  const T* dy;
  T* dx;

  GPUNET_FN void operator()(index_t i) const {
    const index_t j = i % inner, column = i / inner % g.columns.size;
    const index_t row = i / (inner * g.columns.size) % g.rows.size;
    const index_t plane = i / (inner * g.columns.size * g.rows.size);
    const T* gradients = dy + plane * g.rows.outputs * g.columns.outputs * inner + j;
    const index_t row_end = g.rows.last(row), begin = g.columns.first(column),
                  end = g.columns.last(column);
    LongSum<T> sum;
    for (index_t oy = g.rows.first(row); oy < row_end; ++oy)
      for (index_t ox = begin; ox < end; ++ox)
        sum += gradients[(oy * g.columns.outputs + ox) * inner] /
               static_cast<T>(g.rows.length(oy) * g.columns.length(ox));
    dx[i] = sum.value();
  }
};

// y = mean of x, [length] each, for slices of one sample per group. Index i = one element of y.
template <class T>
struct GlobalAvgPool2dForward {
  index_t length;
  const T* x;
  T* y;

  GPUNET_FN T operator()(index_t i, index_t r) const { return x[i * length + r]; }
  GPUNET_FN void store(index_t i, T sum) const { y[i] = sum / static_cast<T>(length); }
};

// dx = dy / length. One index = one element of dx.
template <class T>
struct GlobalAvgPool2dBackward {
  static constexpr bool one_copy = true;
  index_t length;
  const T* dy;
  T* dx;

  GPUNET_FN void operator()(index_t i) const { dx[i] = dy[i / length] / static_cast<T>(length); }
};

template <class D, class T>
void avg_pool2d_forward(D& device, const Slice& slice, const AvgPool2dGeometry& g, const T* x,
                        T* y) {
  if (slice.inner == 1 && g.is_global())
    sum_each(device, slice.outer * g.channels, g.rows.size * g.columns.size,
             GlobalAvgPool2dForward<T>{g.rows.size * g.columns.size, x, y});
  else
    for_each(device, slice.samples() * g.out_features(), AvgPool2dForward<T>{g, slice.inner, x, y});
}

template <class D, class T>
void avg_pool2d_backward(D& device, const Slice& slice, const AvgPool2dGeometry& g, const T* dy,
                         T* dx) {
  const index_t n = slice.samples() * g.in_features();
  if (slice.inner == 1 && g.is_global())
    for_each(device, n, GlobalAvgPool2dBackward<T>{g.rows.size * g.columns.size, dy, dx});
  else
    for_each(device, n, AvgPool2dBackward<T>{g, slice.inner, dy, dx});
}

}  // namespace gpunet
