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

// A gradient that lies so, behind a ReLU that made y: 0 where y is 0. y may be null: then there is none.
template <class T>
__device__ T rectified(T dy, const T* y, index_t i) {
  return y ? RectifyGradient{}(y[i], dy) : dy;
}
template <class T>
struct GradientAlongRows : AlongRows<T> {
  const T* y;
  __device__ T load(index_t row, index_t k) const { return rectified(this->data[row + k], y, row + k); }
};
template <class T>
struct GradientAcrossRows : AcrossRows<T> {
  const T* y;
  __device__ T load(index_t i, index_t row) const { return rectified(this->data[row + i], y, row + i); }
};

// y[i, j] = activate(sum + b[j]); b may be null.
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
      if (q < count) to[q] = activate(b ? values[q] + b[j + q] : values[q]);
  }
};

}  // namespace gpunet::detail
