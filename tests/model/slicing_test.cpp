#include <doctest/doctest.h>

#include <gpunet/model/slicing.hpp>

#include "support/devices.hpp"

using namespace gpunet;

namespace {

constexpr NetworkSize tiny{192, 44}, small{62'006, 15'000}, wide{669'706, 1'034},
    large{2'360'000, 420'000};

void check_runs(const Slicing& slicing) {
  const index_t runs = slicing.runs();
  CHECK(runs >= 1);
  CHECK(runs <= Slicing::most_runs);
  CHECK(slicing.first_slice(0) == 0);
  CHECK(slicing.first_slice(runs) == slicing.slices());
  for (index_t r = 0; r < runs; ++r)
    CHECK(slicing.first_slice(r) < slicing.first_slice(r + 1));
}

}  // namespace

TEST_CASE_TEMPLATE("slices hold every sample of a batch once", D, GPUNET_TEST_DEVICES) {
  for (const NetworkSize& network : {tiny, small, wide, large})
    for (index_t batch = 1; batch <= 300; ++batch) {
      const Slicing slicing = slice_batch(test_device<D>(), batch, network);
      CHECK(slicing.batch == batch);
      index_t next = 0;
      for (index_t i = 0; i < slicing.slices(); ++i) {
        const Slice slice = slicing.slice(i);
        CHECK(slicing.first_sample(i) == next);
        CHECK(slice.count >= 1);
        CHECK(slice.count <= slice.samples());
        CHECK(slice.outer == slicing.slice(0).outer);
        CHECK(slice.inner == slicing.slice(0).inner);
        next += slice.count;
      }
      CHECK(next == batch);
      check_runs(slicing);
    }
}

TEST_CASE("Host takes groups of 16, 4 or 1 samples and pads little") {
  const Host& host = test_device<Host>();
  for (const NetworkSize& network : {tiny, small, wide})
    for (index_t batch = 1; batch <= 300; ++batch) {
      const Slicing slicing = slice_batch(host, batch, network);
      CHECK((slicing.inner == 16 || slicing.inner == 4 || slicing.inner == 1));
      CHECK(slicing.slices() * slicing.per_slice() < 2 * batch);
    }
  CHECK(slice_batch(host, 1, small).inner == 1);
  CHECK(slice_batch(host, 2, small).inner == 1);
  CHECK(slice_batch(host, 4, small).inner == 4);
  CHECK(slice_batch(host, 16, small).inner == 16);
  CHECK(slice_batch(host, 100, small).inner == 16);
}

TEST_CASE(
    "Host: threads take slices of one group, unless the network is tiny, or has many parameters") {
  const Host& host = test_device<Host>();
  const Slicing lenet = slice_batch(host, 256, small);
  CHECK(lenet.side_by_side);
  CHECK(lenet.slices() == 16);
  CHECK(lenet.runs() == 8);

  const Slicing iris = slice_batch(host, 120, tiny);
  CHECK_FALSE(iris.side_by_side);
  CHECK(iris.slices() == 1);
  CHECK(iris.outer == 8);

  const Slicing mlp = slice_batch(host, 512, wide);
  CHECK_FALSE(mlp.side_by_side);
  CHECK(mlp.slices() == 1);
  CHECK(mlp.outer == 32);
}

TEST_CASE("Host: a large batch of a large network is cut, so that memory stays bounded") {
  const Slicing slicing = slice_batch(test_device<Host>(), 256, large);
  CHECK_FALSE(slicing.side_by_side);
  CHECK(slicing.slices() == 8);
  CHECK(slicing.outer == 2);
  CHECK(slicing.runs() == 1);
}

#if GPUNET_CUDA
TEST_CASE("Cuda takes the whole batch in PyTorch's order") {
  const Slicing slicing = slice_batch(test_device<Cuda>(), 50, small);
  CHECK(slicing.slices() == 1);
  CHECK(slicing.slice(0).outer == 50);
  CHECK(slicing.slice(0).inner == 1);
}
#endif
