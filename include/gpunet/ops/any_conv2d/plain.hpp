// Convolution with groups, dilation and rectangles, and its transpose: the plain single-source
// version.
#pragma once

#include <gpunet/ops/conv2d/plain.hpp>

namespace gpunet {

// The arrays of a convolution between x and y; arrays that are written are not const in the
// functions below.
template <class T>
struct AnyConv2dArgs {
  Slice slice;
  Conv2dGeometry g;
  const T* w = nullptr;
  OptionalArray<const T> b = {};  // of the channels of the result
  T* scratch = nullptr;
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
index_t any_conv2d_scratch(const D&, const Slice&, const Conv2dGeometry&, T) {
  return 0;
}

// y = x * w + b.
template <class D, class T>
void any_conv2d_forward(D& device, const AnyConv2dArgs<T>& a, const T* x, T* y) {
  for_each(device, a.slice.samples() * a.g.out_features(),
           Conv2dForward<T>{a.g, a.slice.inner, x, a.w, a.b, y});
}

// dx = dy * w + b.
template <class D, class T>
void any_conv2d_backward_input(D& device, const AnyConv2dArgs<T>& a, const T* dy, T* dx) {
  for_each(device, a.slice.samples() * a.g.in_features(),
           Conv2dInputGradient<T>{a.g, a.slice.inner, dy, a.w, a.b, dx});
}

// dw = sum of dy x.
template <class D, class T>
void any_conv2d_backward_weight(D& device, const AnyConv2dArgs<T>& a, const T* x, const T* dy,
                                T* dw, Accumulate accumulate) {
  sum_each(device, a.g.out_channels * a.g.taps(), a.slice.samples() * a.g.out_pixels(),
           Conv2dWeightGradient<T>{a.g, a.slice.inner, x, dy, dw, accumulate});
}

// db = sum of dy, the gradient of [channels, pixels] per sample.
template <class D, class T>
void any_conv2d_backward_bias(D& device, const Slice& slice, index_t channels, index_t pixels,
                              const T* dy, T* db, Accumulate accumulate) {
  sum_each(device, channels, slice.samples() * pixels,
           AnyConv2dBiasGradient<T>{channels, pixels * slice.inner, dy, db, accumulate});
}

}  // namespace gpunet
