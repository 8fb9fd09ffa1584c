// Copies a tensor from one Cuda to another.
#pragma once

#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <doctest/doctest.h>
#include <numeric>
#include <vector>

#include <gpunet/device/cuda/cuda.hpp>
#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/tensor/tensor.hpp>

inline std::vector<int> counting(int first) {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), first);
  return values;
}

struct AddOne {
  int* values;
  GPUNET_FN void operator()(gpunet::index_t i) const { values[i] += 1; }
};

// Copies from device to device, with work before and after on both sides, without waiting for any
// of it.
inline void pass_on(gpunet::Cuda& from, gpunet::Cuda& to) {
  gpunet::Tensor<int, gpunet::Cuda> copy;
  {
    gpunet::Tensor<int, gpunet::Cuda> original(from, {1000}, counting(0));
    for_each(from, 1000, AddOne{original.data()});
    copy = original.to(to);
    for_each(from, 1000, AddOne{original.data()});  // too late for the copy
  }
  // Perhaps where the original was.
  gpunet::Tensor<int, gpunet::Cuda> next(from, {1000}, counting(-5000));
  for_each(to, 1000, AddOne{copy.data()});
  CHECK(copy.to_vector() == counting(2));
  CHECK(next.to_vector() == counting(-5000));
}

#endif
