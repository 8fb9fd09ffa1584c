#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <doctest/doctest.h>
#include <string>

#include <gpunet/device/cuda/cuda.hpp>
#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/device/cuda/memory.cuh>
#include <gpunet/tensor/tensor.hpp>

using namespace gpunet;

TEST_CASE("Cuda memory is counted in blocks of 512 bytes") {
  Cuda device;
  CHECK(device.memory_allocated() == 0);
  CHECK(device.memory_reserved() == 0);
  {
    const Tensor<float, Cuda> two(device, {2});
    CHECK(device.memory_allocated() == 512);
    const Tensor<float, Cuda> more(device, {129});
    CHECK(device.memory_allocated() == 512 + 1024);
  }
  CHECK(device.memory_allocated() == 0);
  CHECK(device.max_memory_allocated() == 512 + 1024);
  const std::size_t reserved = device.memory_reserved();
  CHECK((reserved == 0 || reserved >= 512 + 1024));  // 0: a simulator does not count it
  device.reset_peak_memory_stats();
  CHECK(device.max_memory_allocated() == 0);
  device.empty_cache();
  CHECK(device.memory_reserved() == 0);
}

TEST_CASE("the memory of a whole GPU is asked for on Cuda") {
  Cuda device;
  const auto [free, total] = device.mem_get_info();
  CHECK(free > 0);
  CHECK(free <= total);
}

TEST_CASE("too much Cuda memory is an error that names the amounts, and the device goes on") {
  Cuda device;
  const Tensor<float, Cuda> kept(device, {200});
  const std::size_t much = std::size_t{1} << 46;
  std::string error;
  try {
    device.allocate(much);
  } catch (const Error& e) {
    error = e.what();
  }
  CAPTURE(error);
  CHECK(error.find(concat("CUDA out of memory: tried to allocate ", much, " bytes on cuda:0")) !=
        error.npos);
  CHECK(error.find(concat("of ", device.mem_get_info().total,
                          "; this device object holds 1024 in")) != error.npos);
  CHECK(device.memory_allocated() == 1024);
  const Tensor<float, Cuda> next(device, {1}, {3.0f});
  CHECK(next.item() == 3.0f);
}

#endif
