// Algorithms of CUB: its headers cost a unit some seconds, so that only the bodies of Cuda include
// this.
#pragma once

#include <algorithm>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#include <source_location>
#include <thrust/iterator/counting_iterator.h>

#include <gpunet/device/cuda/check.cuh>
#include <gpunet/tensor/buffer.hpp>

namespace gpunet::detail {

// Calls an algorithm of CUB, algorithm(memory, bytes), for the size of its working memory and to
// run.
template <class Algorithm>
void run_cub(Cuda& device, const Algorithm& algorithm,
             const std::source_location& where = std::source_location::current()) {
  const CurrentDevice current(device.ordinal());
  std::size_t bytes = 0;
  check(algorithm(nullptr, bytes), where);
  const Buffer<std::byte, Cuda> memory(device, std::max(static_cast<index_t>(bytes), index_t{1}));
  check(algorithm(memory.data(), bytes), where);
}

}  // namespace gpunet::detail
