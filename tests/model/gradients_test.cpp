#include <doctest/doctest.h>
#include <vector>

#include <gpunet/model/gradients.hpp>

#include "support/devices.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("the sums of all runs are added up in order", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  constexpr index_t size = 5, runs = 3;
  Gradients<double, D> gradients(size);
  CHECK(gradients.zeroed());
  gradients.reserve(device, runs);
  for (index_t run = 0; run < runs; ++run) {
    CHECK(gradients.mode(run, true) == Accumulate::no);
    CHECK(gradients.mode(run, false) == Accumulate::yes);
    const std::vector<double> values{1.0 * static_cast<double>(run), 2, 3, 4, 0.5};
    device.upload(gradients.of_run(run), values.data(), size * sizeof(double));
  }
  gradients.add_partials(device, runs);
  gradients.note_backward();
  std::vector<double> sum(size);
  device.download(sum.data(), gradients.data(), size * sizeof(double));
  CHECK(sum == std::vector<double>{3, 6, 9, 12, 1.5});

  CHECK_FALSE(gradients.zeroed());
  CHECK(gradients.mode(0, true) == Accumulate::yes);  // the next pass adds
  CHECK(gradients.mode(1, true) == Accumulate::no);
  gradients.zero();
  CHECK(gradients.zeroed());
  CHECK(gradients.mode(0, true) == Accumulate::no);
}

TEST_CASE_TEMPLATE("gradients begin as zero", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Gradients<float, D> gradients(3);
  CHECK(gradients.data() == nullptr);  // a model that only infers has none
  gradients.reserve(device, 1);
  CHECK(gradients.size() == 3);
  std::vector<float> values(3, 1);
  device.download(values.data(), gradients.data(), 3 * sizeof(float));
  CHECK(values == std::vector<float>(3));
}
