// The mean of an array.
#pragma once

#include <gpunet/core/config.hpp>

namespace gpunet {

// result[0] = sum of x / n. One sum.
template <class T>
struct Mean {
  index_t n;
  const T* x;
  T* result;
  GPUNET_FN T operator()(index_t, index_t r) const { return x[r]; }
  GPUNET_FN void store(index_t, T sum) const { result[0] = sum / static_cast<T>(n); }
};

// result[0] = mean of x[0..n).
template <class D, class T>
void mean(D& device, index_t n, const T* x, T* result) {
  sum_each(device, 1, n, Mean<T>{n, x, result});
}

}  // namespace gpunet
