// The affine map y = x W^T + b, with an activation behind it: the plain single-source version.
#pragma once

#include <cstddef>

#include <gpunet/core/math.hpp>
#include <gpunet/ops/activation.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// x [in], W [out, in], b [out], y [out] per sample. One index = one element of y.
template <class T>
struct LinearForward {
  static constexpr bool one_copy = true;
  index_t in, out, inner;
  const T *x, *w, *b;
  T* y;
  Activate activate;

  GPUNET_FN void operator()(index_t i) const {
    const index_t o = i / inner % out;
    const T* sample = x + i / (inner * out) * in * inner + i % inner;
    T sum = b[o];
    for (index_t k = 0; k < in; ++k)
      sum += w[o * in + k] * sample[k * inner];
    y[i] = activate(sum);
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
    T sum{};
    for (index_t o = 0; o < out; ++o)
      sum += w[o * in + k] * sample[o * inner];
    dx[i] = sum;
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
  T* db;
  Accumulate accumulate;

  GPUNET_FN T operator()(index_t o, index_t n) const { return dy[(n / inner * out + o) * inner + n % inner]; }
  GPUNET_FN void store(index_t o, T sum) const { store_gradient(db[o], sum, accumulate); }
};

// Bytes that a sample's outputs take as bits: rows of them are multiples of 128.
constexpr index_t relu_bits_bytes(index_t out) {
  return round_up(out, 128) / 8;
}

// Elements of T that the three functions below need as scratch.
template <class D, class T>
index_t linear_scratch(const D&, const Slice&, index_t /*in*/, index_t /*out*/, T) {
  return 0;
}

template <class D, class T>
void linear_forward(D& device, const Slice& slice, index_t in, index_t out, const T* x, const T* w, const T* b,
                    T* y, T* /*scratch*/, Activation activation = Activation::none) {
  for_each(device, slice.samples() * out, LinearForward<T>{in, out, slice.inner, x, w, b, y, {activation}});
}

template <class D, class T>
void linear_backward_input(D& device, const Slice& slice, index_t in, index_t out, const T* dy, const T* w, T* dx,
                           T* /*scratch*/) {
  for_each(device, slice.samples() * in, LinearInputGradient<T>{in, out, slice.inner, dy, w, dx});
}

template <class D, class T>
void linear_backward_parameters(D& device, const Slice& slice, index_t in, index_t out, const T* x, const T* dy,
                                T* dw, T* db, Accumulate accumulate, T* /*scratch*/) {
  sum_each(device, out * in, slice.samples(), LinearWeightGradient<T>{in, out, slice.inner, x, dy, dw, accumulate});
  sum_each(device, out, slice.samples(), LinearBiasGradient<T>{out, slice.inner, dy, db, accumulate});
}

// Both, for y = activate(x W^T + b); uses up dy, and leaves out a dx that is null. rectify_dx: dx is 0 where x, which a
// ReLU made, is; relu_bits may tell which those are, to devices that read them. Sizes are numbers or Dims.
template <class D, class In, class Out, class T>
void linear_backward(D& device, const Slice& slice, In in, Out out, const T* x, const T* y, T* dy, const T* w,
                     T* dx, T* dw, T* db, Accumulate accumulate, T* scratch, Activation activation,
                     bool rectify_dx = false, const std::byte* /*relu_bits*/ = nullptr) {
  if (activation == Activation::relu) rectify_gradient(device, slice.samples() * out, y, dy, dy);
  // The weights first, which forward may have left in a cache: their gradients would push them out.
  if (dx) linear_backward_input(device, slice, in, out, dy, w, dx, scratch);
  if (dx && rectify_dx) rectify_gradient(device, slice.samples() * in, x, dx, dx);
  linear_backward_parameters(device, slice, in, out, x, dy, dw, db, accumulate, scratch);
}

}  // namespace gpunet
