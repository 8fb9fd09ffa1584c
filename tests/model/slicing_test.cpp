#include <doctest/doctest.h>

#include <gpunet/model/slicing.hpp>

#include "support/devices.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("slices hold every sample of a batch once", D, GPUNET_TEST_DEVICES) {
  for (index_t batch = 1; batch <= 300; ++batch) {
    const Slicing slicing = slice_batch(test_device<D>(), batch);
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
  }
}

TEST_CASE("Host takes 16, 4 or 1 samples at a time and pads little") {
  const Host& host = test_device<Host>();
  for (index_t batch = 1; batch <= 300; ++batch) {
    const Slicing slicing = slice_batch(host, batch);
    CHECK(slicing.outer == 1);
    CHECK((slicing.inner == 16 || slicing.inner == 4 || slicing.inner == 1));
    CHECK(slicing.slices() * slicing.inner < 2 * batch);
  }
  CHECK(slice_batch(host, 1).inner == 1);
  CHECK(slice_batch(host, 2).inner == 1);
  CHECK(slice_batch(host, 4).inner == 4);
  CHECK(slice_batch(host, 16).inner == 16);
  CHECK(slice_batch(host, 100).inner == 16);
}

#if GPUNET_CUDA
TEST_CASE("Cuda takes the whole batch in PyTorch's order") {
  const Slicing slicing = slice_batch(test_device<Cuda>(), 50);
  CHECK(slicing.slices() == 1);
  CHECK(slicing.slice(0).outer == 50);
  CHECK(slicing.slice(0).inner == 1);
}
#endif
