// Gradients of weights as a matrix product, of the bias as the sums of its rows: where they go.
#pragma once

#include <gpunet/ops/slice.hpp>

namespace gpunet::detail {

// dw [outputs, inputs] and db [outputs], the sums of the first factor's rows. Inputs are the
// features of a linear layer, or the taps of a filter.
template <class T_>
struct ParameterGradientOutput {
  using T = T_;
  T* dw;
  OptionalArray<T> db;
  index_t inputs;
  Accumulate accumulate;

  __device__ index_t column(index_t j) const { return j; }
  __device__ void store(index_t output, index_t j, const T* values, int count) const {
    T* to = dw + output * inputs + j;
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (q < count) store_gradient(to[q], values[q], accumulate);
  }
  __device__ void store_row_sum(index_t output, T sum) const {
    db.store_gradient(output, sum, accumulate);
  }
};

}  // namespace gpunet::detail
