// Sums and largest values over a group of threads, the same in every run.
#pragma once

#include <gpunet/core/config.hpp>

namespace gpunet::detail {

inline constexpr int warp_size = 32;

struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

// A NaN loses.
struct Largest {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a > b || b != b ? a : b;
  }
};

// The values of a warp's lanes combined two by two; every lane gets the same result.
template <class T, class F>
__device__ T combine_warp(T value, F f) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value = f(value, __shfl_xor_sync(~0u, value, distance));
  return value;
}

// The same for `warps` neighboring warps, which must be the whole block unless there is one.
// `shared` has room for one value of each.
template <int warps, class T, class F>
__device__ T combine_group(T value, F f, T* shared) {
  value = combine_warp(value, f);
  if constexpr (warps > 1) {
    __syncthreads();  // after all reads of the last result
    if (threadIdx.x % warp_size == 0) shared[threadIdx.x / warp_size] = value;
    __syncthreads();
    value = shared[0];
    for (int i = 1; i < warps; ++i)
      value = f(value, shared[i]);
  }
  return value;
}

}  // namespace gpunet::detail
