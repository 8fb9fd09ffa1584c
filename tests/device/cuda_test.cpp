#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <cstdint>
#include <doctest/doctest.h>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/tensor/tensor.hpp>

using namespace gpunet;

namespace {

constexpr std::size_t size = 1000;
constexpr std::size_t bytes = size * sizeof(int);

std::vector<int> counting(int first) {
  std::vector<int> values(size);
  std::iota(values.begin(), values.end(), first);
  return values;
}

std::vector<int> read(Cuda& device, const void* source) {
  std::vector<int> values(size, -1);
  device.download(values.data(), source, bytes);
  return values;
}

// Takes long enough that whoever does not wait comes too early.
struct AddOneSlowly {
  int* values;
  GPUNET_FN void operator()(index_t i) const {
    volatile int* value = values + i;
    for (int round = 0; round < 100; ++round)
      *value = *value + (round % 2 ? -1 : 1);
    values[i] += 1;
  }
};

}  // namespace

static_assert(!std::is_copy_constructible_v<Cuda> && !std::is_move_constructible_v<Cuda>);
static_assert(!std::is_copy_assignable_v<Cuda> && !std::is_move_assignable_v<Cuda>);
static_assert(std::is_nothrow_destructible_v<Cuda>);

TEST_CASE("a Cuda device says what it is") {
  Cuda device;
  CHECK(device.name() == "cuda:0");
  CHECK(device.ordinal() == 0);
  CHECK(device.multiprocessors() >= 1);
  CHECK(device.stream() != device.copy_stream());
}

TEST_CASE("Cuda memory is aligned, and comes back") {
  Cuda device;
  std::vector<Buffer<std::byte, Cuda>> pieces;
  for (index_t n : {1, 3, 255, 256, 257, 100000}) {
    pieces.emplace_back(device, n);
    CHECK(reinterpret_cast<std::uintptr_t>(pieces.back().data()) % 256 == 0);
  }
  CHECK(device.allocate(0) == nullptr);
  CHECK_NOTHROW(device.deallocate(nullptr, 0));
}

TEST_CASE("Cuda uploads, copies and downloads in order") {
  Cuda device;
  Buffer<int, Cuda> a(device, size), b(device, size);
  std::vector<int> values = counting(5);
  device.upload(a.data(), values.data(), bytes);
  values.assign(size, 0);  // may be reused at once
  for_each(device, size, AddOneSlowly{a.data()});
  device.copy(b.data(), a.data(), bytes);
  for_each(device, size, AddOneSlowly{a.data()});
  CHECK(read(device, b.data()) == counting(6));
  CHECK(read(device, a.data()) == counting(7));
}

TEST_CASE("pinned memory may be reused after an upload to Cuda") {
  Cuda device;
  Buffer<int, Cuda> a(device, size);
  int* pinned = nullptr;
  check(cudaMallocHost(&pinned, bytes));
  std::iota(pinned, pinned + size, 5);
  for_each(device, size, AddOneSlowly{a.data()});  // keeps the stream busy
  device.upload(a.data(), pinned, bytes);
  std::fill(pinned, pinned + size, 0);
  CHECK(read(device, a.data()) == counting(5));
  check(cudaFreeHost(pinned));
}

TEST_CASE("nothing happens for zero bytes on Cuda") {
  Cuda device;
  device.upload(nullptr, nullptr, 0);
  device.download(nullptr, nullptr, 0);
  device.copy(nullptr, nullptr, 0);
  device.synchronize();
}

TEST_CASE("Cuda memory may be freed before the work on it is done") {
  Cuda device;
  Buffer<int, Cuda> result(device, size);
  {
    Buffer<int, Cuda> a(device, size);
    const std::vector<int> values = counting(0);
    device.upload(a.data(), values.data(), bytes);
    for_each(device, size, AddOneSlowly{a.data()});
    device.copy(result.data(), a.data(), bytes);
  }
  Buffer<int, Cuda> next(device, size);  // perhaps the same memory
  const std::vector<int> other(size, -7);
  device.upload(next.data(), other.data(), bytes);
  CHECK(read(device, result.data()) == counting(1));
}

TEST_CASE("a Cuda device that goes waits for its work") {
  std::vector<int> values = counting(0);
  for (int round = 0; round < 3; ++round) {
    Cuda device;
    Buffer<int, Cuda> a(device, size);
    device.upload(a.data(), values.data(), bytes);
    for_each(device, size, AddOneSlowly{a.data()});
    device.blas();
  }
  check(cudaDeviceSynchronize());
}

TEST_CASE("tensors on Cuda") {
  Cuda device;
  const Tensor<float, Cuda> tensor(device, {2, 2}, {1, 2, 3, 4});
  CHECK(tensor.to_vector() == std::vector<float>{1, 2, 3, 4});
  CHECK(Tensor<int, Cuda>(device, {1}, {42}).item() == 42);
}

TEST_CASE("a Cuda device that is not there") {
  const std::string has = concat("this machine has ", Cuda::device_count(), " CUDA device");
  for (int ordinal : {-1, Cuda::device_count()}) {
    std::string error;
    try {
      Cuda device(ordinal);
    } catch (const Error& e) {
      error = e.what();
    }
    CAPTURE(error);
    CHECK(error.find(concat("CUDA error: invalid device ordinal: there is no cuda:", ordinal)) !=
          std::string::npos);
    CHECK(error.find(has) != std::string::npos);
  }
}

#endif
