#include <cmath>
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
  gradients.reserve(device, Slicing{runs, 1, 1, true});
  for (index_t run = 0; run < runs; ++run) {
    CHECK(gradients.mode(run, 0) == Accumulate::no);
    CHECK(gradients.mode(run, 1) == Accumulate::yes);
    const std::vector<double> values{1.0 * static_cast<double>(run), 2, 3, 4, 0.5};
    device.upload(gradients.of_run(run), values.data(), size * sizeof(double));
  }
  gradients.add_partials(device);
  gradients.note_backward();
  std::vector<double> sum(size);
  device.download(sum.data(), gradients.data(), size * sizeof(double));
  CHECK(sum == std::vector<double>{3, 6, 9, 12, 1.5});

  CHECK_FALSE(gradients.zeroed());
  CHECK(gradients.mode(0, 0) == Accumulate::yes);  // the next pass adds
  CHECK(gradients.mode(1, 0) == Accumulate::no);
  gradients.zero();
  CHECK(gradients.zeroed());
  CHECK(gradients.mode(0, 0) == Accumulate::no);
}

TEST_CASE_TEMPLATE("gradients begin as zero", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Gradients<float, D> gradients(3);
  CHECK(gradients.data() == nullptr);  // a model that only infers has none
  gradients.reserve(device, Slicing{1, 1, 1, true});
  CHECK(gradients.size() == 3);
  std::vector<float> values(3, 1);
  device.download(values.data(), gradients.data(), 3 * sizeof(float));
  CHECK(values == std::vector<float>(3));
}

// As for a batch of 500 slices: 62 or 63 in each of the 8 runs.
TEST_CASE_TEMPLATE("the sums of many slices keep their digits", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Slicing slicing{500, 1, 1, true};
  Gradients<float, D> gradients(1);
  double exact = 0;
  for (int pass = 0; pass < 2; ++pass) {  // the second adds to the first
    gradients.reserve(device, slicing);
    CHECK_FALSE(gradients.is_one_sum());
    for (index_t run = 0; run < slicing.runs(); ++run) {
      const index_t slices = slicing.first_slice(run + 1) - slicing.first_slice(run);
      for (index_t i = 0; i < slices; ++i) {
        const float value = 0.1f + 0.001f * static_cast<float>(i);
        exact += static_cast<double>(value);
        float sum = 0;
        if (gradients.mode(run, i) == Accumulate::yes)
          device.download(&sum, gradients.of_run(run), sizeof sum);
        sum += value;
        device.upload(gradients.of_run(run), &sum, sizeof sum);
        gradients.end_slice(device, run, i, slices);
      }
    }
    gradients.add_partials(device);
    gradients.note_backward();
    float sum = 0;
    device.download(&sum, gradients.data(), sizeof sum);
    CHECK(std::abs(static_cast<double>(sum) / exact - 1) <= 3 * 0x1p-24);
  }
}
