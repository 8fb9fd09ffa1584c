// Affine maps as matrix products: what stands at row and column of each factor, and where the sums go.
#pragma once

#include <gpunet/ops/activation.hpp>

namespace gpunet::detail {

// A matrix as it lies: element (i, k) at i * stride + k.
template <class T>
struct AlongRows {
  static constexpr bool along_k = true;
  const T* data;
  index_t stride;

  __device__ index_t outer(index_t i) const { return i * stride; }
  __device__ index_t inner(index_t k) const { return k; }
  __device__ T load(index_t row, index_t k) const { return data[row + k]; }
};

// Its transpose: element (i, k) at k * stride + i.
template <class T>
struct AcrossRows {
  static constexpr bool along_k = false;
  const T* data;
  index_t stride;

  __device__ index_t outer(index_t i) const { return i; }
  __device__ index_t inner(index_t k) const { return k * stride; }
  __device__ T load(index_t i, index_t row) const { return data[row + i]; }
};

// The transpose with a last column of ones, whose sums are those of the other factor.
template <class T>
struct AcrossRowsAndOnes : AcrossRows<T> {
  index_t size;  // the number of the column of ones

  __device__ T load(index_t i, index_t row) const { return i < size ? this->data[row + i] : T{1}; }
};

// y[i, j] = activate(sum + b[j]).
template <class T_>
struct RowsOutput {
  using T = T_;
  T* y;
  index_t stride;
  const T* b;
  Activate activate;

  __device__ index_t column(index_t j) const { return j; }
  __device__ void store(index_t i, index_t j, T* values, int count) const {
    T* to = y + i * stride + j;
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (q < count) to[q] = activate(values[q] + b[j + q]);
  }
};

// y = activate(y + b), where a library made only the products. One index = one element of y [samples, out].
template <class T>
struct AddBias {
  index_t out;
  const T* b;
  T* y;
  Activate activate;

  GPUNET_FN void operator()(index_t i) const { y[i] = activate(y[i] + b[i % out]); }
};

// dx[i, j] = sum; where x is not null, 0 where x[i, j] is.
template <class T_>
struct InputGradientRows {
  using T = T_;
  T* dx;
  index_t stride;
  const T* x;

  __device__ index_t column(index_t j) const { return j; }
  __device__ void store(index_t i, index_t j, const T* values, int count) const {
    const index_t first = i * stride + j;
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (q < count) dx[first + q] = x ? RectifyGradient{}(x[first + q], values[q]) : values[q];
  }
};

}  // namespace gpunet::detail
