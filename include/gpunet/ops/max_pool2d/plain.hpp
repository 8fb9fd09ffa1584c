// Maximum over windows, as torch.nn.MaxPool2d: the plain single-source version.
#pragma once

#include <gpunet/ops/max_pool2d/geometry.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// Computes the maximum of a window that begins at `from`, and its place (ties: the first; NaN
// counts as maximum, as in PyTorch).
template <class T>
GPUNET_FN void max_of_window(const Pool2dGeometry& g, const ClippedWindow& window, index_t inner,
                             const T* from, T& maximum, PoolChoice& place) {
  T best = *from;
  index_t where = window.first_place;
  for (index_t ky = 0; ky < window.rows; ++ky, from += g.width * inner)
    for (index_t kx = 0; kx < window.columns; ++kx)
      if (const T value = from[kx * inner]; value > best || value != value) {
        best = value;
        where = window.first_place + ky * g.kernel_width + kx;
      }
  maximum = best;
  place = static_cast<PoolChoice>(where);
}

// y = max of its window, choice = its place. One index = one element of y.
template <class T>
struct MaxPool2dForward {
  static constexpr bool one_copy = true;
  Pool2dGeometry g;
  index_t inner;
  const T* x;
  T* y;
  PoolChoice* choice;

  GPUNET_FN void operator()(index_t i) const {
    const index_t j = i % inner, column = i / inner % g.out_width,
                  row = i / (inner * g.out_width) % g.out_height;
    const index_t plane = i / (inner * g.out_width * g.out_height);
    const T* image = x + plane * g.height * g.width * inner + j;
    const ClippedWindow window = clipped_window(g, row, column);
    max_of_window(g, window, inner, image + (window.top * g.width + window.left) * inner, y[i],
                  choice[i]);
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
    const index_t j = i % inner, column = i / inner % g.width,
                  row = i / (inner * g.width) % g.height;
    const index_t plane = i / (inner * g.width * g.height);
    const index_t y = row + g.padding, x = column + g.padding_width;
    T sum{};
    for (index_t oy = last_window(y, g.stride, g.out_height);
         oy >= 0 && oy * g.stride > y - g.kernel; --oy)
      for (index_t ox = last_window(x, g.stride_width, g.out_width);
           ox >= 0 && ox * g.stride_width > x - g.kernel_width; --ox) {
        const index_t k = ((plane * g.out_height + oy) * g.out_width + ox) * inner + j;
        const index_t place = (y - oy * g.stride) * g.kernel_width + x - ox * g.stride_width;
        if (choice[k] == place) sum += dy[k];
      }
    dx[i] = sum;
  }

  // Returns the last of `windows` windows that begins at or before a place.
  static GPUNET_FN index_t last_window(index_t place, index_t stride, index_t windows) {
    const index_t last = place / stride;
    return last < windows ? last : windows - 1;
  }
};

template <class D, class T>
void max_pool2d_forward(D& device, const Slice& slice, const Pool2dGeometry& g, const T* x, T* y,
                        PoolChoice* choice) {
  for_each(device, slice.samples() * g.out_features(),
           MaxPool2dForward<T>{g, slice.inner, x, y, choice});
}

template <class D, class T>
void max_pool2d_backward(D& device, const Slice& slice, const Pool2dGeometry& g, const T* dy,
                         const PoolChoice* choice, T* dx) {
  for_each(device, slice.samples() * g.in_features(),
           MaxPool2dBackward<T>{g, slice.inner, dy, choice, dx});
}

}  // namespace gpunet
