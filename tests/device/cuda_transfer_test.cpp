#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <doctest/doctest.h>
#include <numeric>
#include <vector>

#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/device/cuda/transfer.cuh>
#include <gpunet/device/host/host.hpp>
#include <gpunet/tensor/tensor.hpp>

using namespace gpunet;

namespace {

std::vector<int> counting(int first) {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), first);
  return values;
}

struct AddOne {
  int* values;
  GPUNET_FN void operator()(index_t i) const { values[i] += 1; }
};

// Device to device, with work before and after on both sides, none of it waited for.
void pass_on(Cuda& from, Cuda& to) {
  Tensor<int, Cuda> copy;
  {
    Tensor<int, Cuda> original(from, {1000}, counting(0));
    for_each(from, 1000, AddOne{original.data()});
    copy = original.to(to);
    for_each(from, 1000, AddOne{original.data()});  // too late for the copy
  }
  Tensor<int, Cuda> next(from, {1000}, counting(-5000));  // perhaps where the original was
  for_each(to, 1000, AddOne{copy.data()});
  CHECK(copy.to_vector() == counting(2));
  CHECK(next.to_vector() == counting(-5000));
}

}  // namespace

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
