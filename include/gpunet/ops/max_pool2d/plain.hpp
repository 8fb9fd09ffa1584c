// Maximum over windows, as torch.nn.MaxPool2d: the plain single-source version.
#pragma once

#include <gpunet/ops/max_pool2d/geometry.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// y = max of its window, choice = its place (ties: the first; NaN counts as maximum, as in PyTorch). One index = one
// element of y.
template <class T>
struct MaxPool2dForward {
  static constexpr bool one_copy = true;
  Pool2dGeometry g;
  index_t inner;
  const T* x;
  T* y;
  PoolChoice* choice;

  GPUNET_FN void operator()(index_t i) const {
    const index_t j = i % inner, column = i / inner % g.out_width, row = i / (inner * g.out_width) % g.out_height;
    const index_t plane = i / (inner * g.out_width * g.out_height);
    const T* image = x + plane * g.height * g.width * inner + j;
    T best{};
    PoolChoice where{};
    bool found = false;
    for (index_t ky = 0; ky < g.kernel; ++ky) {
      const index_t iy = row * g.stride + ky - g.padding;
      if (iy < 0 || iy >= g.height) continue;
      for (index_t kx = 0; kx < g.kernel_width; ++kx) {
        const index_t ix = column * g.stride_width + kx - g.padding_width;
        if (ix < 0 || ix >= g.width) continue;
        const T value = image[(iy * g.width + ix) * inner];
        if (!found || value > best || value != value) {
          best = value;
          where = static_cast<PoolChoice>(ky * g.kernel_width + kx);
          found = true;
        }
      }
    }
    y[i] = best;
    choice[i] = where;
  }
};

// dx = sum of the dy whose window chose this element. One index = one element of dx.
template <class T>
struct MaxPool2dBackward {
  static constexpr bool one_copy = true;
  Pool2dGeometry g;
  index_t inner;
  const T* dy;
  const PoolChoice* choice;
  T* dx;

  GPUNET_FN void operator()(index_t i) const {
    const index_t j = i % inner, column = i / inner % g.width, row = i / (inner * g.width) % g.height;
    const index_t plane = i / (inner * g.width * g.height);
    T sum{};
    for (index_t ky = 0; ky < g.kernel; ++ky) {
      const index_t oy = row + g.padding - ky;
      if (oy < 0 || oy % g.stride != 0 || oy / g.stride >= g.out_height) continue;
      for (index_t kx = 0; kx < g.kernel_width; ++kx) {
        const index_t ox = column + g.padding_width - kx;
        if (ox < 0 || ox % g.stride_width != 0 || ox / g.stride_width >= g.out_width) continue;
        const index_t k = ((plane * g.out_height + oy / g.stride) * g.out_width + ox / g.stride_width) * inner + j;
        if (choice[k] == ky * g.kernel_width + kx) sum += dy[k];
      }
    }
    dx[i] = sum;
  }
};

template <class D, class T>
void max_pool2d_forward(D& device, const Slice& slice, const Pool2dGeometry& g, const T* x, T* y,
                        PoolChoice* choice) {
  for_each(device, slice.samples() * g.out_features(), MaxPool2dForward<T>{g, slice.inner, x, y, choice});
}

template <class D, class T>
void max_pool2d_backward(D& device, const Slice& slice, const Pool2dGeometry& g, const T* dy,
                         const PoolChoice* choice, T* dx) {
  for_each(device, slice.samples() * g.in_features(), MaxPool2dBackward<T>{g, slice.inner, dy, choice, dx});
}

}  // namespace gpunet
