// The planes under the kernel of a convolution in three dimensions, copied side by side.
#pragma once

#include <algorithm>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/ops/conv2d/geometry.hpp>
#include <gpunet/ops/for_each_block.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet::detail {

// Some planes of the output, from `first` on, and the planes of the input that they read. Images
// are [outer][channel][plane][area], windows [outer][output][channel][kernel plane][area].
struct PlaneWindows {
  ConvAxis planes;
  index_t channels, outer;
  index_t first, some;  // of the output
  index_t area;         // elements of a plane, of all samples that are innermost

  index_t windows() const { return outer * some * channels * planes.kernel; }

  // windows = x, zeros outside of it.
  template <class D, class T>
  void gather(D& device, const T* x, T* windows) const;
  // y = windows of one plane, at their places.
  template <class D, class T>
  void place(D& device, const T* windows, T* y) const;
  // dx = b + windows at their places, or + windows where planes of the output were added before.
  template <class D, class T>
  void add(D& device, const T* windows, OptionalArray<const T> b, T* dx) const;
};

// A loop over planes: one index = `length` neighboring elements of a plane.
struct PlaneLoop : PlaneWindows {
  index_t length;

  template <class D>
  PlaneLoop(const D&, const PlaneWindows& windows)
      : PlaneWindows(windows), length(prefers_blocks<D> ? std::max(windows.area, index_t{1}) : 1) {}

  index_t blocks() const { return area / length; }
  // Returns the number of an index's plane. Sets the place of its elements in the plane.
  GPUNET_FN index_t plane(index_t i, index_t& at) const {
    const index_t blocks = area / length;
    at = i % blocks * length;
    return i / blocks;
  }
};

// windows = x, or 0.
template <class T>
struct GatherPlanes : PlaneLoop {
  const T* x;
  T* windows;

  GPUNET_FN void operator()(index_t i) const {
    index_t at = 0;
    const index_t n = plane(i, at), k = n % planes.kernel, c = n / planes.kernel % channels;
    const index_t o = n / (planes.kernel * channels) % some,
                  group = n / (planes.kernel * channels * some);
    const index_t z = planes.source(first + o, k);
    T* to = windows + n * area + at;
    if (z < 0 || z >= planes.size) {
      for (index_t e = 0; e < length; ++e)
        to[e] = T{};
      return;
    }
    const T* from = x + ((group * channels + c) * planes.size + z) * area + at;
    for (index_t e = 0; e < length; ++e)
      to[e] = from[e];
  }
};

// y = windows.
template <class T>
struct PlacePlanes : PlaneLoop {
  const T* windows;
  T* y;

  GPUNET_FN void operator()(index_t i) const {
    index_t at = 0;
    const index_t n = plane(i, at), c = n % channels, o = n / channels % some,
                  group = n / (channels * some);
    const T* from = windows + n * area + at;
    T* to = y + ((group * channels + c) * planes.outputs + first + o) * area + at;
    for (index_t e = 0; e < length; ++e)
      to[e] = from[e];
  }
};

// dx += windows, the planes under the kernel in order; at first dx = b.
template <class T>
struct AddPlanes : PlaneLoop {
  const T* windows;
  OptionalArray<const T> b;
  T* dx;

  GPUNET_FN void operator()(index_t i) const {
    index_t at = 0;
    const index_t n = plane(i, at), z = n % planes.size, c = n / planes.size % channels,
                  group = n / (planes.size * channels);
    T* to = dx + n * area + at;
    if (first == 0)
      for (index_t e = 0; e < length; ++e)
        to[e] = b[c];
    for (index_t k = 0; k < planes.kernel; ++k) {
      const index_t target = planes.target(z, k), o = target - first;
      if (target < 0 || o < 0 || o >= some) continue;
      const T* from =
          windows + (((group * some + o) * channels + c) * planes.kernel + k) * area + at;
      for (index_t e = 0; e < length; ++e)
        to[e] += from[e];
    }
  }
};

template <class D, class T>
void PlaneWindows::gather(D& device, const T* x, T* to) const {
  const GatherPlanes<T> f{{device, *this}, x, to};
  for_each_block(device, windows() * f.blocks(), f.length, f);
}

template <class D, class T>
void PlaneWindows::place(D& device, const T* from, T* y) const {
  const PlacePlanes<T> f{{device, *this}, from, y};
  for_each_block(device, windows() * f.blocks(), f.length, f);
}

template <class D, class T>
void PlaneWindows::add(D& device, const T* from, OptionalArray<const T> b, T* dx) const {
  const AddPlanes<T> f{{device, *this}, from, b, dx};
  for_each_block(device, outer * channels * planes.size * f.blocks(), f.length, f);
}

}  // namespace gpunet::detail
