// Many sums of one length on Cuda.
#pragma once

#include <gpunet/core/long_sum.hpp>
#include <gpunet/device/cuda/for_each.cuh>

namespace gpunet {

namespace detail {

inline constexpr int most_lanes = 1024;

// `lanes` neighboring threads, a power of two, make one sum; a block makes blockDim.x / lanes at a
// time. Lane by lane in order, then the lanes in halves: the additions are the same in every run.
template <class F>
__global__ void __launch_bounds__(most_lanes, 1)
    sum_each_kernel(index_t n, index_t length, int lanes, F f) {
  using T = std::remove_cvref_t<decltype(f(n, length))>;
  __shared__ WideSum<T> partial[most_lanes];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % lanes;
  const index_t stride = index_t{gridDim.x} * (blockDim.x / lanes);
  const index_t first = blockIdx.x * index_t{blockDim.x / lanes};
  for (index_t base = first; base < n; base += stride) {
    const index_t i = base + thread / lanes;
    LongSum<T> sum;
    if (i < n)
      for (index_t r = lane; r < length; r += lanes)
        sum += f(i, r);
    partial[thread] = sum.wide();
    for (int width = lanes / 2; width > 0; width /= 2) {
      __syncthreads();
      if (lane < width) partial[thread] += partial[thread + width];
    }
    if (lane == 0 && i < n) f.store(i, static_cast<T>(partial[thread]));
    __syncthreads();  // after the reads of neighbors
  }
}

}  // namespace detail

// For every i < n: f.store(i, s) where s is the sum of f(i, r) over r < length, 0 when length is 0.
// The order of the additions is fixed. f is a named, trivially copyable functor whose two functions
// are GPUNET_FN and const.
//
// Not CUB's block reduction: its headers cost every unit 4 s of compiling.
template <class F>
void sum_each(Cuda& device, index_t n, index_t length, F f) {
  static_assert(std::is_trivially_copyable_v<F>,
                "gpunet::sum_each: the functor must be trivially copyable (pointers and numbers, "
                "nothing that owns)");
  static_assert(detail::SumFunctor<F>,
                "gpunet::sum_each: the functor lacks operator()(i, r) or store(i, sum), write "
                "both, each const: GPUNET_FN T operator()(index_t i, index_t r) const, GPUNET_FN "
                "void store(index_t i, T sum) const");
  if (n <= 0) return;
  int lanes = 1;  // short sums are made by few threads, so that none is idle
  while (lanes < detail::most_lanes && index_t{4} * lanes < length)
    lanes *= 2;
  const unsigned threads = std::max(static_cast<unsigned>(lanes), detail::threads_per_block);
  const auto what = [n, length] {
    return concat("sum_each<", detail::name_of<F>(), "> of ", n, " sums over ", length, " indices");
  };
  detail::launch(device, {detail::blocks(device, n, index_t{threads} / lanes), threads}, what,
                 detail::sum_each_kernel<F>, n, length, lanes, f);
}

}  // namespace gpunet
