#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <doctest/doctest.h>
#include <vector>

#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/tensor/tensor.hpp>

using namespace gpunet;

namespace {

struct CountVisits {
  int* visits;
  GPUNET_FN void operator()(index_t i) const { visits[i] += 1; }
};

}  // namespace

TEST_CASE("for_each visits every index once on Cuda") {
  Cuda device;
  const index_t more_than_one_round =
      index_t{32} * device.multiprocessors() * detail::threads_per_block + 77;
  for (index_t n :
       {index_t{0}, index_t{1}, index_t{255}, index_t{256}, index_t{257}, more_than_one_round}) {
    CAPTURE(n);
    const std::vector<int> zeros(static_cast<std::size_t>(n) + 1);
    Tensor<int, Cuda> visits(device, {n + 1}, zeros);
    for_each(device, n, CountVisits{visits.data()});
    std::vector<int> expected(static_cast<std::size_t>(n), 1);
    expected.push_back(0);
    CHECK(visits.to_vector() == expected);
  }
}

#endif
