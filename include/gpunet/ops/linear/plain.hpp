// The affine map y = x W^T + b, with an activation behind it: the plain single-source version.
#pragma once

#include <cstddef>

#include <gpunet/core/math.hpp>
#include <gpunet/ops/relu.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// The arguments of the forward pass: y = activation(x W^T + b). "Samples" are all rows of features:
// where a sample has several, the slice has as many times the groups.
template <class T>
struct LinearForwardArgs {
  Slice slice;
  index_t in, out;                // features
  const T* x = nullptr;           // [in] per sample
  const T* w = nullptr;           // [out, in]
  OptionalArray<const T> b = {};  // [out]
  T* y = nullptr;                 // [out] per sample
  T* scratch = nullptr;           // linear_scratch() elements
  Activation activation = Activation::none;
  // Where a device may leave which outputs the ReLU let through.
  std::byte* relu_bits = nullptr;
  // No other slice runs at the same time: the device's working memory is free.
  bool whole_batch = slice.outer > 1;
};

// The arguments of the backward pass.
template <class T>
struct LinearBackwardArgs {
  Slice slice;
  index_t in, out;
  const T* x = nullptr;
  const T* y = nullptr;  // not read where there is no activation
  T* dy = nullptr;       // used up
  const T* w = nullptr;
  T* dx = nullptr;  // null where it is not needed
  T* dw = nullptr;
  OptionalArray<T> db = {};
  Accumulate accumulate = Accumulate::no;
  T* scratch = nullptr;
  Activation activation = Activation::none;
  bool rectify_dx = false;               // dx is 0 where x, which a ReLU made, is
  const std::byte* relu_bits = nullptr;  // which those are, for devices that read them
  bool whole_batch = slice.outer > 1;    // as above
};

// Tags for sizes that are known at compile time, so that only kernels that may be needed are
// compiled.
struct AnySizes {};
struct SmallSizes {};  // small_linear_sizes() is true
template <index_t In, index_t Out>
struct TinySizes {};  // the sizes themselves: all loops over features are unrolled

// Returns whether the kernels of Host for small maps do all slices of a map.
constexpr bool small_linear_sizes(index_t in, index_t out) {
  return in >= 8 && out >= 8 && in * out > 128 && in * out <= index_t{1} << 16;
}

// Return one number of W x + b, or of dy W, for a sample whose features are `step` apart.
template <class T, class Index>
GPUNET_FN T linear_output(const T* w, OptionalArray<const T> b, const T* x, Index o, Index in,
                          Index step) {
  T sum = b[o];
  for (Index k = 0; k < in; ++k)
    sum += w[o * in + k] * x[k * step];
  return sum;
}
template <class T, class Index>
GPUNET_FN T linear_input_gradient(const T* w, const T* dy, Index k, Index in, Index out,
                                  Index step) {
  T sum{};
  for (Index o = 0; o < out; ++o)
    sum += w[o * in + k] * dy[o * step];
  return sum;
}

// x [in], W [out, in], b [out], y [out] per sample. One index = one element of y.
template <class T>
struct LinearForward {
  static constexpr bool one_copy = true;
  index_t in, out, inner;
  const T *x, *w;
  OptionalArray<const T> b;
  T* y;
  Activate activate;

  GPUNET_FN void operator()(index_t i) const {
    const index_t o = i / inner % out;
    const T* sample = x + i / (inner * out) * in * inner + i % inner;
    y[i] = activate(linear_output(w, b, sample, o, in, inner));
  }
};

// dx = dy W. One index = one element of dx.
template <class T>
struct LinearInputGradient {
  static constexpr bool one_copy = true;
  index_t in, out, inner;
  const T *dy, *w;
  T* dx;

  GPUNET_FN void operator()(index_t i) const {
    const index_t k = i / inner % in;
    const T* sample = dy + i / (inner * in) * out * inner + i % inner;
    dx[i] = linear_input_gradient(w, sample, k, in, out, inner);
  }
};

// dW = dy^T x. One sum, over samples, = one element of dW.
template <class T>
struct LinearWeightGradient {
  index_t in, out, inner;
  const T *x, *dy;
  T* dw;
  Accumulate accumulate;

  GPUNET_FN T operator()(index_t i, index_t n) const {
    const index_t outer = n / inner, j = n % inner;
    return dy[(outer * out + i / in) * inner + j] * x[(outer * in + i % in) * inner + j];
  }
  GPUNET_FN void store(index_t i, T sum) const { store_gradient(dw[i], sum, accumulate); }
};

// db = sum over samples of dy. One sum = one output.
template <class T>
struct LinearBiasGradient {
  index_t out, inner;
  const T* dy;
  OptionalArray<T> db;
  Accumulate accumulate;

  GPUNET_FN T operator()(index_t o, index_t n) const {
    return dy[(n / inner * out + o) * inner + n % inner];
  }
  GPUNET_FN void store(index_t o, T sum) const { db.store_gradient(o, sum, accumulate); }
};

// Bytes that a sample's outputs take as bits: rows of them are multiples of 128.
constexpr index_t relu_bits_bytes(index_t out) {
  return round_up(out, 128) / 8;
}

// Returns the elements of T that the functions below need as scratch memory.
template <class D, class T>
index_t linear_scratch(const D&, const Slice&, index_t /*in*/, index_t /*out*/, T,
                       bool /*whole_batch*/ = false) {
  return 0;
}

template <class D, class T>
void linear_forward(D& device, const LinearForwardArgs<T>& a) {
  for_each(device, a.slice.samples() * a.out,
           LinearForward<T>{a.in, a.out, a.slice.inner, a.x, a.w, a.b, a.y, {a.activation}});
}
template <class D, class T>
void linear_backward_input(D& device, const LinearBackwardArgs<T>& a) {
  for_each(device, a.slice.samples() * a.in,
           LinearInputGradient<T>{a.in, a.out, a.slice.inner, a.dy, a.w, a.dx});
}
template <class D, class T>
void linear_backward_parameters(D& device, const LinearBackwardArgs<T>& a) {
  const index_t samples = a.slice.samples();
  sum_each(device, a.out * a.in, samples,
           LinearWeightGradient<T>{a.in, a.out, a.slice.inner, a.x, a.dy, a.dw, a.accumulate});
  if (a.db)
    sum_each(device, a.out, samples,
             LinearBiasGradient<T>{a.out, a.slice.inner, a.dy, a.db, a.accumulate});
}

// The same for sizes that are partly known at compile time: a device may have kernels of its own
// for them.
template <class D, class Known, class T>
index_t linear_scratch(const D& device, Known, const Slice& slice, index_t in, index_t out, T type,
                       bool whole_batch = false) {
  return linear_scratch(device, slice, in, out, type, whole_batch);
}
template <class D, class Known, class T>
void linear_forward(D& device, Known, const LinearForwardArgs<T>& a) {
  linear_forward(device, a);
}
template <class D, class Known, class T>
void linear_backward_input(D& device, Known, const LinearBackwardArgs<T>& a) {
  linear_backward_input(device, a);
}
template <class D, class Known, class T>
void linear_backward_parameters(D& device, Known, const LinearBackwardArgs<T>& a) {
  linear_backward_parameters(device, a);
}

// The whole backward pass, of the activation too.
template <class D, class Known, class T>
void linear_backward(D& device, Known known, const LinearBackwardArgs<T>& a) {
  if (a.activation == Activation::relu)
    rectify_gradient(device, a.slice.samples() * a.out, a.y, a.dy, a.dy);
  // The weights first, which forward may have left in a cache: their gradients would push them out.
  if (a.dx) linear_backward_input(device, known, a);
  if (a.dx && a.rectify_dx) rectify_gradient(device, a.slice.samples() * a.in, a.x, a.dx, a.dx);
  if (a.dw) linear_backward_parameters(device, known, a);
}

}  // namespace gpunet
