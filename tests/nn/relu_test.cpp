#include <limits>

#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/reference_check.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of ReLU", D, GPUNET_TEST_DEVICES) {
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(test_device<D>(), nn::ReLU{}, Shape<7>{}, slice);
    check_layer_gradients(test_device<D>(), nn::ReLU{}, Shape<2, 3, 1>{}, slice);
  }
}

TEST_CASE_TEMPLATE("ReLU is PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_against_reference<float>(test_device<D>(), nn::ReLU{}, Shape<3, 2, 2>{}, "relu");
}

// relu of [nan, 1, -1, 0, -0] with the output gradient [2, 3, 4, 5, 6] in PyTorch 2.15
TEST_CASE_TEMPLATE("ReLU of what is not a number, and of zeros", D, GPUNET_TEST_DEVICES) {
  LayerRun<float, D> run(test_device<D>(), nn::ReLU{}, Shape<5>{}, Slice{1, 1, 1});
  const auto y = run.forward({std::numeric_limits<float>::quiet_NaN(), 1, -1, 0, -0.0f});
  CHECK(std::isnan(y[0]));
  CHECK(std::vector<float>(y.begin() + 1, y.end()) == std::vector<float>{1, 0, 0, 0});
  CHECK(run.backward({2, 3, 4, 5, 6}).dx == std::vector<float>{2, 3, 0, 0, 0});
}

// relu(torch.tensor([-1e-40, -1e-45])) is [0, 0], and so are their gradients. The caller's
// arithmetic does not flush subnormal numbers to 0.
TEST_CASE_TEMPLATE("ReLU gives no negative number, however small", D, GPUNET_TEST_DEVICES) {
  LayerRun<float, D> run(test_device<D>(), nn::ReLU{}, Shape<2>{}, Slice{1, 1, 1});
  CHECK(run.forward({-1e-40f, -1e-45f}) == std::vector<float>{0, 0});
  CHECK(run.backward({1, 1}).dx == std::vector<float>{0, 0});
}
