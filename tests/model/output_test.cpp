#include <cmath>
#include <doctest/doctest.h>
#include <sstream>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "support/networks.hpp"

using namespace gpunet;

namespace {

// relu(x): what goes in is what comes out, where it is positive.
using Identity = nn::Sequential<nn::Input<2, 3>, nn::ReLU>;

}  // namespace

TEST_CASE_TEMPLATE("tensor() is in PyTorch's order", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<Identity, D> model(device);
  for (index_t batch : {1, 2, 3, 4, 5, 15, 16, 17, 50}) {
    CAPTURE(batch);
    std::vector<float> values;
    for (index_t i = 0; i < batch * 6; ++i)
      values.push_back(static_cast<float>(i));
    const Tensor<float, D> inputs(device, {batch, 2, 3}, values);
    const auto output = model(inputs);
    CHECK(output.sizes() == Sizes{batch, 2, 3});
    CHECK(output.batch() == batch);
    CHECK(output.features() == 6);
    const Tensor<float, D> copy = output.tensor();
    CHECK(copy.sizes() == Sizes{batch, 2, 3});
    CHECK(copy.to_vector() == values);
  }
}

TEST_CASE_TEMPLATE("outputs become tensors, and parts of tensors inputs", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<Identity, D> model(device), next(device);
  const Tensor<float, D> inputs(device, {2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  Tensor same = model(inputs);
  CHECK(same.sizes() == Sizes{2, 2, 3});
  CHECK(same.to_vector() == inputs.to_vector());
  CHECK(model(slice(inputs, 0, {.start = 1})).to_vector() == inputs[1].to_vector());
  CHECK(model(unsqueeze(inputs[0], 0)).to_vector() == inputs[0].to_vector());
  CHECK(model(2 * inputs - 1).to_vector() == Tensor(2 * inputs - 1).to_vector());
  CHECK(next(model(inputs)).to_vector() == inputs.to_vector());
  Network<D, float>& network = model;
  CHECK(network(transpose(transpose(inputs, 1, 2), 1, 2)).to_vector() == inputs.to_vector());
  CHECK(error_of([&] { model(inputs[0]); }) != "");
}

TEST_CASE_TEMPLATE("predictions, probabilities and text of an output", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<nn::Sequential<nn::Input<2>, nn::ReLU>, D> model(device);
  const Tensor<float, D> inputs(device, {3, 2}, {1, 2, 0.5, 0.5, 4, 0});
  const auto output = model(inputs);
  CHECK(output.to_vector() == std::vector<float>{1, 2, 0.5, 0.5, 4, 0});
  CHECK(output.argmax(1).to_vector() == std::vector<label_t>{1, 0, 0});
  CHECK(output.argmax(0).to_vector() == std::vector<label_t>{2, 0});
  const std::vector<float> probabilities = output.softmax(1).to_vector();
  CHECK(probabilities[0] == doctest::Approx(1 / (1 + std::exp(1.0))));
  CHECK(probabilities[2] == 0.5f);
  std::ostringstream out;
  out << output << "\n" << output.argmax(1);
  CHECK(out.str() ==
        "tensor([[1.0000, 2.0000],\n        [0.5000, 0.5000],\n        [4.0000, "
        "0.0000]])\ntensor([1, 0, 0])");
  CHECK(contains(error_of([&] { output.item(); }), "a tensor of shape [3, 2] has no single value"));
  Model<nn::Sequential<nn::Input<1>, nn::ReLU>, D> single(device);
  CHECK(single(Tensor<float, D>(device, {1, 1}, {7})).item() == 7);
  model(inputs);
  CHECK(contains(error_of([&] { output.argmax(1); }), "the model has run another batch"));
}

TEST_CASE_TEMPLATE("each_slice shows every sample once", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<Identity, D> model(device);
  for (index_t batch : {1, 5, 17}) {
    const Tensor<float, D> inputs(device, {batch, 2, 3},
                                  std::vector<float>(static_cast<std::size_t>(batch * 6)));
    index_t next = 0;
    model(inputs).each_slice([&](const Slice& slice, index_t first, const float* y) {
      CHECK(first == next);
      CHECK(y != nullptr);
      next += slice.count;
    });
    CHECK(next == batch);
  }
}

TEST_CASE_TEMPLATE("outputs and losses of an earlier batch are refused", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<SmallNet, D> model(device);
  Generator generator(1);
  const TestBatch<float, D> batch(device, SmallNet{}, 3, generator);
  nn::CrossEntropyLoss criterion;
  const auto output = model(batch.inputs);
  auto loss = criterion(output, batch.labels);
  const float value = loss.item();
  const auto next = model(batch.inputs);
  const std::string stale =
      ": the model has run another batch or computed another loss since, call it before the next "
      "one";
  CHECK_THROWS_WITH_AS(loss.item(), ("gpunet::LossValue::item" + stale).c_str(), Error);
  CHECK_THROWS_WITH_AS(loss.backward(), ("gpunet::LossValue::backward" + stale).c_str(), Error);
  CHECK_THROWS_WITH_AS(output.tensor(),
                       "gpunet::Output: the model has run another batch since this output was "
                       "computed (or autocast), use tensor() "
                       "to keep it",
                       Error);
  CHECK_THROWS_AS(criterion(output, batch.labels), Error);
  CHECK(criterion(next, batch.labels).item() == value);
}

TEST_CASE_TEMPLATE("a loss stays on the device until it is asked for", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<SmallNet, D> model(device);
  Generator generator(1);
  const TestBatch<float, D> batch(device, SmallNet{}, 2, generator);
  const auto loss = nn::CrossEntropyLoss{}(model(batch.inputs), batch.labels);
  float value = 0;
  device.download(&value, loss.data(), sizeof value);
  CHECK(value == loss.item());
  CHECK(&loss.device() == &device);
}

TEST_CASE_TEMPLATE("of two losses of one output only the second is there", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<SmallNet, D> model(device);
  Generator generator(1);
  const TestBatch<float, D> batch(device, SmallNet{}, 3, generator);
  nn::CrossEntropyLoss criterion;
  const auto output = model(batch.inputs);
  auto first = criterion(output, batch.labels);
  const float value = first.item();
  auto second = criterion(output, batch.labels);
  CHECK_THROWS_AS(first.item(), Error);
  CHECK_THROWS_AS(first.backward(), Error);
  CHECK(second.item() == value);
  CHECK_NOTHROW(second.backward());
}

TEST_CASE_TEMPLATE("the loss of a training step cannot run backward again", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<SmallNet, D> model(device);
  Generator generator(1);
  const TestBatch<float, D> batch(device, SmallNet{}, 64, generator);
  auto loss = model.forward_backward(View<const float, D>(batch.inputs), nn::CrossEntropyLoss{},
                                     View<const label_t, D>(batch.labels));
  CHECK(loss.item() > 0);
  CHECK_THROWS_WITH_AS(
      loss.backward(),
      "gpunet::LossValue::backward: this loss comes from a training step, which has run backward "
      "already",
      Error);
}
