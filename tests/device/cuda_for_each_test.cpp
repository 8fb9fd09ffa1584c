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

struct WritePair {
  index_t columns;
  index_t* pairs;
  GPUNET_FN void operator()(index_t row, index_t column) const {
    pairs[row * columns + column] += 1000 * row + column;
  }
};

}  // namespace

TEST_CASE("for_each visits every index once on Cuda") {
  Cuda device;
  const index_t more_than_one_round = index_t{32} * device.multiprocessors() * detail::threads_per_block + 77;
  for (index_t n : {index_t{0}, index_t{1}, index_t{255}, index_t{256}, index_t{257}, more_than_one_round}) {
    CAPTURE(n);
    const std::vector<int> zeros(static_cast<std::size_t>(n) + 1);
    Tensor<int, Cuda> visits(device, {n + 1}, zeros);
    for_each(device, n, CountVisits{visits.data()});
    std::vector<int> expected(static_cast<std::size_t>(n), 1);
    expected.push_back(0);
    CHECK(visits.to_vector() == expected);
  }
}

TEST_CASE("for_each visits every pair once on Cuda") {
  Cuda device;
  for (const auto& [rows, columns] :
       std::vector<std::pair<index_t, index_t>>{{1, 1}, {3, 5}, {5, 3}, {40, 70}, {300, 1}}) {
    Tensor<index_t, Cuda> pairs(device, {rows, columns},
                                std::vector<index_t>(static_cast<std::size_t>(rows * columns)));
    for_each(device, rows, columns, WritePair{columns, pairs.data()});
    std::vector<index_t> expected;
    for (index_t row = 0; row < rows; ++row)
      for (index_t column = 0; column < columns; ++column)
        expected.push_back(1000 * row + column);
    CHECK(pairs.to_vector() == expected);
  }
  CHECK_NOTHROW(for_each(device, 0, 5, WritePair{5, nullptr}));
  CHECK_NOTHROW(for_each(device, 5, 0, WritePair{0, nullptr}));
}

#endif
