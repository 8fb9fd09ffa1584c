#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <doctest/doctest.h>
#include <numeric>
#include <vector>

#include <gpunet/device/cuda/cuda.hpp>
#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/device/host/host.hpp>
#include <gpunet/tensor/tensor.hpp>

#include "support/cuda_transfer.hpp"

using namespace gpunet;

TEST_CASE("tensors travel between Host and Cuda") {
  Host host(HostOptions{.threads = 1});
  Cuda cuda;
  const Tensor<int, Host> original(host, {10, 100}, counting(0));
  Tensor<int, Cuda> there = original.to(cuda);
  for_each(cuda, 1000, AddOne{there.data()});
  const Tensor<int, Host> back = there.to(host);
  CHECK(back.to_vector() == counting(1));
  CHECK(back.sizes() == Sizes{10, 100});
  CHECK(Tensor<int, Host>(host, {0}).to(cuda).numel() == 0);
}

TEST_CASE("tensors travel within one Cuda device") {
  Cuda device, stream_beside_it;
  pass_on(device, device);
  pass_on(device, stream_beside_it);
}

#endif
