#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "io/temp_folder.hpp"
#include "support/devices.hpp"

using namespace gpunet;

namespace {

// Passes its input on: what a test feeds in is what Accuracy sees.
using Identity = nn::Sequential<nn::Input<3>, nn::Flatten>;

}  // namespace

TEST_CASE_TEMPLATE("Accuracy counts right answers over all and per class", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<Identity, D> net(device);
  train::Accuracy accuracy(device, 3);
  // The largest of equal outputs is the first, as in torch.max on a processor.
  const Tensor<float, D> outputs(device, {5, 3}, {1, 2, 3, 3, 2, 1, 0, 0, 0, -1, -2, -3, 1, 5, 2});
  const Tensor<label_t, D> labels(device, {5}, {2, 1, 0, 0, 2});
  accuracy.update(net(outputs), labels.view());
  accuracy.update(net(outputs), labels.view());

  const auto result = accuracy.result();
  CHECK(result.total() == 10);
  CHECK(result.correct() == 6);
  CHECK(result.accuracy() == 0.6);
  REQUIRE(result.classes.size() == 3);
  CHECK(result.classes[0].total == 4);
  CHECK(result.classes[0].correct == 4);
  CHECK(result.classes[1].total == 2);
  CHECK(result.classes[1].correct == 0);
  CHECK(result.classes[2].total == 4);
  CHECK(result.classes[2].correct == 2);

  accuracy.reset();
  CHECK(accuracy.result().total() == 0);
}

TEST_CASE_TEMPLATE("Accuracy reads batches of every size", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<Identity, D> net(device);
  for (index_t batch : {1, 2, 3, 4, 5, 16, 17, 50}) {
    CAPTURE(batch);
    std::vector<float> outputs(static_cast<std::size_t>(3 * batch));
    std::vector<label_t> labels(static_cast<std::size_t>(batch));
    index_t right = 0;
    for (index_t n = 0; n < batch; ++n) {
      outputs[static_cast<std::size_t>(3 * n + n * n % 3)] = 1;
      labels[static_cast<std::size_t>(n)] = static_cast<label_t>(n % 3);
      right += n * n % 3 == n % 3;
    }
    train::Accuracy accuracy(device, 3);
    const Tensor<float, D> on_device(device, {batch, 3}, outputs);
    const Tensor<label_t, D> labels_on_device(device, {batch}, labels);
    accuracy.update(net(on_device), labels_on_device.view());
    CHECK(accuracy.result().total() == batch);
    CHECK(accuracy.result().correct() == right);
  }
}

TEST_CASE("Accuracy says what does not fit") {
  Host host;
  Model<Identity, Host> net(host);
  const Tensor<float, Host> outputs(host, {2, 3}, {1, 2, 3, 1, 2, 3});
  const Tensor<label_t, Host> labels(host, {3}, {0, 1, 2});
  CHECK(error_of([&] { train::Accuracy(host, 0); }).find("0 classes (want 1 to 2147483647)") !=
        std::string::npos);
  train::Accuracy ten(host, 10), three(host, 3);
  CHECK(error_of([&] {
          ten.update(net(outputs), labels.view());
        }).find("outputs of 3 classes (want 10)") != std::string::npos);
  CHECK(error_of([&] {
          three.update(net(outputs), labels.view());
        }).find("3 labels for a batch of 2") != std::string::npos);
}
