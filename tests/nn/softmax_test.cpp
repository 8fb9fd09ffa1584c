#include <cmath>

#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/reference_check.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of Softmax and LogSoftmax", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::Softmax{}, Shape<5>{}, slice);
    check_layer_gradients(device, nn::Softmax{}, Shape<3, 2, 2>{}, slice);
    check_layer_gradients(device, nn::Softmax{}, Shape<1>{}, slice);
    check_layer_gradients(device, nn::LogSoftmax{}, Shape<5>{}, slice);
    check_layer_gradients(device, nn::LogSoftmax{}, Shape<3, 2, 2>{}, slice);
  }
}

TEST_CASE_TEMPLATE("Softmax is PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  check_against_reference<float>(device, nn::Softmax{}, Shape<5>{}, "softmax_1d", 23, {1, 1e-6});
  check_against_reference<float>(device, nn::Softmax{}, Shape<3, 1, 2>{}, "softmax_3d", 23,
                                 {1, 1e-6});
  check_against_reference<double>(device, nn::Softmax{}, Shape<3, 1, 2>{}, "softmax_3d", 23,
                                  {1, 1e-14});
}

TEST_CASE_TEMPLATE("Softmax of large numbers does not overflow", D, GPUNET_TEST_DEVICES) {
  LayerRun<float, D> run(test_device<D>(), nn::Softmax{}, Shape<3>{}, Slice{2, 2, 1});
  CHECK(run.forward({1000, 1000, -1000, -1e30f, -1e30f, -1e30f}) ==
        std::vector<float>{0.5f, 0.5f, 0, 1.0f / 3, 1.0f / 3, 1.0f / 3});
}

TEST_CASE_TEMPLATE("LogSoftmax of large numbers is finite", D, GPUNET_TEST_DEVICES) {
  for (const Slice& slice : test_slices<D>()) {
    if (slice.count < 3) continue;
    LayerRun<float, D> run(test_device<D>(), nn::LogSoftmax{}, Shape<3>{},
                           Slice{2, slice.outer, slice.inner});
    const std::vector<float> y = run.forward({1000, 1000, -1000, 0, -200, -300});
    const std::vector<float> expected{
        -std::log(2.0f), -std::log(2.0f), -2000 - std::log(2.0f), 0, -200, -300};
    for (std::size_t i = 0; i < y.size(); ++i)
      CHECK(y[i] == doctest::Approx(expected[i]).epsilon(1e-6));
  }
}
