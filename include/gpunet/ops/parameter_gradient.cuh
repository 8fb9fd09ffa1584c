// Gradients of weights and bias as one matrix product: where the sums go.
#pragma once

#include <gpunet/ops/slice.hpp>

namespace gpunet::detail {

// [outputs, inputs + 1]: dw [outputs, inputs], and db in the last column, whose factor is a column
// of ones. Inputs are the features of a linear layer, or the taps of a filter.
template <class T_>
struct ParameterGradientOutput {
  using T = T_;
  T* dw;
  OptionalArray<T> db;
  index_t inputs;
  Accumulate accumulate;

  __device__ index_t column(index_t j) const { return j; }
  __device__ void store(index_t output, index_t j, const T* values, int count) const {
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (q < count) {
        if (j + q < inputs)
          store_gradient(dw[output * inputs + j + q], values[q], accumulate);
        else
          db.store_gradient(output, values[q], accumulate);
      }
  }
};

}  // namespace gpunet::detail
