// The usual pooling on Host: windows of 2 x 2 that do not overlap, several samples side by side.
#pragma once

#include <gpunet/device/host/for_each.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/ops/max_pool2d.hpp>

namespace gpunet {

// One index = one row of y of one channel. The innermost loops have a fixed length and no branch, so they become
// vectors.
template <class T, int Inner>
struct MaxPool2x2Forward {
  Pool2dGeometry g;
  const T* x;
  T* y;
  PoolChoice* choice;

  void operator()(index_t i) const {
    const index_t channel = i / g.out_height, row = i % g.out_height;
    const T* above = x + (channel * g.height + 2 * row) * g.width * Inner;
    const T* below = above + g.width * Inner;
    T* best = y + i * g.out_width * Inner;
    PoolChoice* where = choice + i * g.out_width * Inner;
    for (index_t column = 0; column < g.out_width; ++column)
      for (int j = 0; j < Inner; ++j) {
        const index_t left = 2 * column * Inner + j, right = left + Inner, at = column * Inner + j;
        T value = above[left];
        PoolChoice k = 0;
        take(above[right], 1, value, k);
        take(below[left], 2, value, k);
        take(below[right], 3, value, k);
        best[at] = value;
        where[at] = k;
      }
  }

 private:
  static void take(T candidate, PoolChoice position, T& value, PoolChoice& k) {
    const bool larger = candidate > value || candidate != candidate;
    value = larger ? candidate : value;
    k = larger ? position : k;
  }
};

// One index = one row of dy of one channel: writes the two rows of dx under it. Odd last rows and columns stay as
// they are.
template <class T, int Inner>
struct MaxPool2x2Backward {
  Pool2dGeometry g;
  const T* dy;
  const PoolChoice* choice;
  T* dx;

  void operator()(index_t i) const {
    const index_t channel = i / g.out_height, row = i % g.out_height;
    T* above = dx + (channel * g.height + 2 * row) * g.width * Inner;
    T* below = above + g.width * Inner;
    const T* from = dy + i * g.out_width * Inner;
    const PoolChoice* where = choice + i * g.out_width * Inner;
    for (index_t column = 0; column < g.out_width; ++column)
      for (int j = 0; j < Inner; ++j) {
        const index_t left = 2 * column * Inner + j, right = left + Inner;
        const T d = from[column * Inner + j];
        const PoolChoice k = where[column * Inner + j];
        above[left] = k == 0 ? d : T{};
        above[right] = k == 1 ? d : T{};
        below[left] = k == 2 ? d : T{};
        below[right] = k == 3 ? d : T{};
      }
  }
};

namespace detail {

// Whether the functors above can do it.
inline bool is_pool_2x2(const Pool2dGeometry& g, const Slice& slice) {
  return g.kernel == 2 && g.stride == 2 && g.padding == 0 && slice.outer == 1 &&
         (slice.inner == 4 || slice.inner == 16);
}

}  // namespace detail

template <class T>
void max_pool2d_forward(Host& device, const Slice& slice, const Pool2dGeometry& g, const T* x, T* y,
                        PoolChoice* choice) {
  const index_t rows = g.channels * g.out_height;
  if (!detail::is_pool_2x2(g, slice)) return max_pool2d_forward<Host, T>(device, slice, g, x, y, choice);
  if (slice.inner == 4)
    for_each(device, rows, MaxPool2x2Forward<T, 4>{g, x, y, choice});
  else
    for_each(device, rows, MaxPool2x2Forward<T, 16>{g, x, y, choice});
}

template <class T>
void max_pool2d_backward(Host& device, const Slice& slice, const Pool2dGeometry& g, const T* dy,
                         const PoolChoice* choice, T* dx) {
  const index_t rows = g.channels * g.out_height;
  if (!detail::is_pool_2x2(g, slice)) return max_pool2d_backward<Host, T>(device, slice, g, dy, choice, dx);
  if (g.height % 2 != 0 || g.width % 2 != 0) fill(device, slice.samples() * g.in_features(), T{}, dx);
  if (slice.inner == 4)
    for_each(device, rows, MaxPool2x2Backward<T, 4>{g, dy, choice, dx});
  else
    for_each(device, rows, MaxPool2x2Backward<T, 16>{g, dy, choice, dx});
}

}  // namespace gpunet
