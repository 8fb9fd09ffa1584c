// The affine map on Cuda: cuBLAS for the products.
#pragma once

#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/device/cuda/gemm.cuh>
#include <gpunet/device/cuda/sum_each.cuh>
#include <gpunet/ops/linear.hpp>

namespace gpunet {

// y[n, o] = activate(y[n, o] + b[o]). One index = one element of y.
template <class T>
struct AddBias {
  index_t out;
  const T* b;
  T* y;
  Activate activate;
  GPUNET_FN void operator()(index_t i) const { y[i] = activate(y[i] + b[i % out]); }
};

// A slice on Cuda is [samples][features], so all three products are plain row-major ones.
template <class T>
void linear_forward(Cuda& device, const Slice& slice, index_t in, index_t out, const T* x, const T* w, const T* b,
                    T* y, T* /*scratch*/, Activation activation = Activation::none) {
  gemm(device, Transpose::no, Transpose::yes, slice.outer, out, in, x, w, T{0}, y);
  for_each(device, slice.outer * out, AddBias<T>{out, b, y, {activation}});
}

template <class T>
void linear_backward_input(Cuda& device, const Slice& slice, index_t in, index_t out, const T* dy, const T* w,
                           T* dx, T* /*scratch*/) {
  gemm(device, Transpose::no, Transpose::no, slice.outer, in, out, dy, w, T{0}, dx);
}

template <class T>
void linear_backward_parameters(Cuda& device, const Slice& slice, index_t in, index_t out, const T* x, const T* dy,
                                T* dw, T* db, Accumulate accumulate, T* /*scratch*/) {
  const T beta = accumulate == Accumulate::yes ? T{1} : T{0};
  gemm(device, Transpose::yes, Transpose::no, out, in, slice.outer, dy, x, beta, dw);
  sum_each(device, out, slice.samples(), LinearBiasGradient<T>{out, slice.inner, dy, db, accumulate});
}

}  // namespace gpunet
