// Index loops on Cuda.
#pragma once

#include <algorithm>
#include <type_traits>

#include <gpunet/core/math.hpp>
#include <gpunet/device/cuda/launch.cuh>

namespace gpunet {

namespace detail {

inline constexpr unsigned threads_per_block = 256;

// The number of blocks for `work` pieces, `per_block` a turn: all at once, or enough to keep the
// device busy.
inline unsigned blocks(const Cuda& device, index_t work, index_t per_block) {
  return static_cast<unsigned>(
      std::min(ceil_div(work, per_block), index_t{32} * device.multiprocessors()));
}

// Every kernel has launch bounds, so that a block's registers suffice for its threads;
// scripts/kernels.sh checks that. The second bound, one block, is said although it asks for
// nothing: without it ptxas 13 spills registers to make room for more.
template <class F>
__global__ void __launch_bounds__(threads_per_block, 1) for_each_kernel(index_t n, F f) {
  const index_t stride = index_t{gridDim.x} * blockDim.x;
  for (index_t i = index_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    f(i);
}

}  // namespace detail

// Calls f(i) for every i < n. The calls must not depend on each other: they run in any order and at
// the same time. f is a named, trivially copyable functor; its operator() is GPUNET_FN and const.
template <class F>
void for_each(Cuda& device, index_t n, F f) {
  static_assert(std::is_trivially_copyable_v<F>,
                "gpunet::for_each: the functor must be trivially copyable (pointers and numbers, "
                "nothing that owns)");
  static_assert(
      detail::IndexFunctor<F>,
      "gpunet::for_each: the functor does not take an index, or is not const, write GPUNET_FN void "
      "operator()(index_t i) const");
  if (n <= 0) return;
  const auto what = [n] {
    return concat("for_each<", detail::name_of<F>(), "> over ", n, " indices");
  };
  detail::launch(device,
                 {detail::blocks(device, n, detail::threads_per_block), detail::threads_per_block},
                 what, detail::for_each_kernel<F>, n, f);
}

}  // namespace gpunet
