#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/create.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

constexpr float no_number = std::numeric_limits<float>::quiet_NaN(),
                infinite = std::numeric_limits<float>::infinity();

nn::Value convolutions(nn::Value x) {
  const auto conv1 = [](nn::Value y) {
    return nn::conv2d(y, 3, 3, {.padding = 1});
  };
  const auto conv2 = [](nn::Value y) {
    return nn::conv2d(y, 4, 3);
  };
  const auto fc = [](nn::Value y) {
    return nn::linear(y, 3);
  };
  x = nn::relu(nn::named("conv1", conv1, x));
  x = nn::relu(nn::named("conv2", conv2, x));
  return nn::named("fc", fc, nn::flatten(x));
}

// Random inputs with one number replaced.
template <class D>
Tensor<float, D> inputs_with(D& device, const Sizes& sizes, index_t place, float value) {
  Generator generator(1);
  std::vector<float> numbers = random_values<float>(sizes.numel(), generator);
  numbers[static_cast<std::size_t>(place)] = value;
  return {device, sizes, numbers};
}

template <class D>
Tensor<label_t, D> labels_of(D& device, index_t batch) {
  return {device, {batch}, std::vector<label_t>(static_cast<std::size_t>(batch), 1)};
}

// Returns the message of a step in both ways, which must be the same and change no parameter;
// without the beginning.
template <class Net, class Loss, class X, class Y>
std::string found(Net& net, const Loss& criterion, const X& x, const Y& y) {
  net.detect_anomaly();
  optim::SGD optimizer(net, {.lr = 0.1});
  train::Step step(net, criterion, optimizer);
  const std::vector<float> before = parameters_of(net);
  const std::string in_step = error_of([&] { step(x, y); });
  CHECK(same_bits(parameters_of(net), before));
  const std::string eager = error_of([&] {
    optimizer.zero_grad();
    auto loss = criterion(net(x), y);
    loss.backward();
    optimizer.step();
  });
  CHECK(same_bits(parameters_of(net), before));
  CHECK(eager == in_step);
  net.zero_grad();
  CHECK(error_of([&] { net.forward_backward(x, criterion, y); }) == in_step);
  const std::string begin = "gpunet::Network::detect_anomaly: ", end = "; no parameter has changed";
  REQUIRE(in_step.starts_with(begin));
  REQUIRE(in_step.ends_with(end));
  return in_step.substr(begin.size(), in_step.size() - begin.size() - end.size());
}

}  // namespace

TEST_CASE_TEMPLATE("what comes in is named with its first index", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(1);
  Network net(device, convolutions, {2, 6, 6});
  const nn::CrossEntropyLoss criterion;
  for (const index_t batch : {1, 3, 5, 20, 50}) {
    if (!DeviceTraits<D>::has_host_memory && batch > 5) continue;
    CAPTURE(batch);
    const index_t sample = batch - 1;
    CHECK(found(net, criterion,
                inputs_with(device, {batch, 2, 6, 6}, sample * 72 + 36 + 6 * 4 + 5, no_number),
                labels_of(device, batch)) ==
          concat("the inputs have nan at [", sample,
                 ", 1, 4, 5] (they came so from the caller), leave out such samples "
                 "or replace such numbers"));
  }
  const index_t at = net.named_parameters()[2].offset + 3 * 27 + 2 * 9 + 3;
  device.upload(net.parameters().data() + at, &infinite, sizeof infinite);
  CHECK(found(net, criterion, inputs_with(device, {2, 2, 6, 6}, 0, 1), labels_of(device, 2)) ==
        "the parameter conv2.0.weight has inf at [3, 2, 1, 0] (it was so before this pass), load "
        "or draw the "
        "parameters "
        "again, and lower the learning rate");
}

TEST_CASE_TEMPLATE("an output that overflows is found in the layer that computes it", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(2);
  Network net(device, convolutions, {2, 6, 6});
  // conv1.weight.
  fill(device, net.named_parameters()[0].sizes.numel(), 2.0f, net.parameters().data());
  const nn::CrossEntropyLoss criterion;
  for (const index_t batch : {1, 5, 20}) {
    if (!DeviceTraits<D>::has_host_memory && batch > 5) continue;
    const std::string message =
        found(net, criterion, inputs_with(device, {batch, 2, 6, 6}, (batch - 1) * 72 + 14, 3e38f),
              labels_of(device, batch));
    CAPTURE(message);
    CHECK(message.starts_with("the output of conv1.0 (Conv2d"));
    CHECK(contains(message, concat(" at [", batch - 1, ", ")));
    CHECK(
        contains(message, " (its inputs are finite), lower the learning rate, clip the gradients"));
  }
  // Forward passes alone, in evaluation mode.
  net.eval();
  CHECK(contains(error_of([&] {
                   net(inputs_with(device, {2, 2, 6, 6}, 100, 3e38f));
                 }),
                 "the output of conv1.0 (Conv2d"));
  net.detect_anomaly(false);
  CHECK(error_of([&] { net(inputs_with(device, {2, 2, 6, 6}, 100, no_number)); }).empty());
}

TEST_CASE_TEMPLATE(
    "an output that overflows only as it is stored, in 16 bits, is that of its layer", D,
    GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(2);
  Network net(device, convolutions, {2, 6, 6});
  net.autocast(Storage::float16);
  // conv1.weight.
  fill(device, net.named_parameters()[0].sizes.numel(), 2.0f, net.parameters().data());
  const std::string message =
      found(net, nn::CrossEntropyLoss(), inputs_with(device, {2, 2, 6, 6}, 100, 4e4f),
            labels_of(device, 2));
  CAPTURE(message);
  CHECK(message.starts_with("the output of conv1.0 (Conv2d"));
  CHECK(contains(message, " has inf at [1, "));
}

TEST_CASE_TEMPLATE("losses and gradients", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(3);
  Network net(device,
              [](nn::Value x) {
                const auto fc = [](nn::Value y) {
                  return nn::linear(y, 2);
                };
                return nn::sqrt(nn::named("fc", fc, x));
              },
              {2});
  const nn::MSELoss criterion;
  const std::vector<float> weights{1, 0, 0, 1};  // of fc: the identity
  device.upload(net.parameters().data(), weights.data(), sizeof(float) * 4);
  fill(device, 2, 0.0f, net.parameters().data() + net.named_parameters()[1].offset);
  const auto tensor = [&](const std::vector<float>& numbers) {
    return Tensor<float, D>(device, {3, 2}, numbers);
  };
  const Tensor<float, D> x = tensor({1, 2, 3, 4, 5, 6});
  CHECK(found(net, criterion, x, tensor({1, 1, 1, 1, 1, 1e30f})) ==
        "the losses of the samples have inf at [2] (the outputs are finite), look at the target of "
        "that sample, or "
        "lower the learning rate");
  // The derivative of sqrt is infinite at 0.
  const std::string by_input = found(net, criterion, tensor({1, 2, 0, 4, 5, 6}), x);
  CAPTURE(by_input);
  CHECK(by_input.starts_with("the gradient by the input of "));
  CHECK(contains(by_input, "at [1, 0] (the gradient by its output is finite)"));
  // x times the gradient overflows.
  Network linear(device, [](nn::Value y) { return nn::linear(y, 2); }, {2});
  fill(device, linear.parameters().numel(), 0.0f, linear.parameters().data());
  const std::string by_parameter =
      found(linear, criterion, tensor({1, 2, 3, 4, 1e30f, 6}), tensor({1, 2, 3, 4, 1e15f, 6}));
  CAPTURE(by_parameter);
  CHECK(by_parameter ==
        "the gradient of 0.weight, layer 0 (Linear) has -inf at [0, 0] (the gradient by the output "
        "of the layer is "
        "finite), scale the loss down, or scale the inputs");
}

TEST_CASE("a sum of finite losses that is infinite is found") {
  Host& host = test_device<Host>();
  Network net(host, [](nn::Value x) { return nn::linear(x, 2); }, {2});
  CHECK(found(net, nn::MSELoss{}, inputs_with(host, {3, 2}, 0, 1),
              Tensor<float, Host>(full(host, {3, 2}, 1.3e19f))) ==
        "the loss of the batch has inf (those of its samples are finite, their sum is not), scale "
        "the loss "
        "down, "
        "or look at the targets");
}

TEST_CASE_TEMPLATE("a training that is checked is bitwise the same", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto trained = [&](bool checked, index_t accumulate, Storage storage) {
    manual_seed(4);
    Network net(device, convolutions, {2, 6, 6});
    net.autocast(storage);
    net.detect_anomaly(checked);
    CHECK(net.detects_anomaly() == checked);
    optim::Adam optimizer(net, {.lr = 0.01});
    const nn::CrossEntropyLoss criterion;
    amp::GradScaler scaler;
    train::Step step(
        net, criterion, optimizer,
        {.accumulate = accumulate, .scaler = storage == Storage::float16 ? &scaler : nullptr});
    for (int i = 0; i < 6; ++i)
      step(inputs_with(device, {5, 2, 6, 6}, i, 1), labels_of(device, 5));
    step.repeat(2, inputs_with(device, {5, 2, 6, 6}, 7, 1), labels_of(device, 5));
    return parameters_of(net);
  };
  for (const Storage storage : {Storage::full, Storage::float16})
    for (const index_t accumulate : {1, 2})
      CHECK(same_bits(trained(true, accumulate, storage), trained(false, accumulate, storage)));
}

TEST_CASE_TEMPLATE("a GradScaler skips updates whose gradients overflow, in fit and in loops", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto samples = inputs_with(test_device<Host>(), {4, 2, 6, 6}, 0, 1);
  const auto labels = labels_of(test_device<Host>(), 4);
  const data::TensorDataset set(samples, labels);
  const Tensor<float, D> x = samples.to(device);
  const Tensor<label_t, D> y = labels.to(device);
  const nn::CrossEntropyLoss criterion;
  const auto skips = [&](auto train) {
    manual_seed(6);
    Network net(device, convolutions, {2, 6, 6});
    net.autocast(Storage::float16);
    net.detect_anomaly();
    optim::SGD optimizer(net, {.lr = 0.1});
    amp::GradScaler scaler({.init_scale = 1e30});
    const std::vector<float> before = parameters_of(net);
    train(net, optimizer, scaler);
    CHECK(scaler.skipped());
    CHECK(same_bits(parameters_of(net), before));
  };
  skips([&](auto& net, auto& optimizer, amp::GradScaler& scaler) {
    train::Step(net, criterion, optimizer, {.scaler = &scaler})(x, y);
  });
  skips([&](auto& net, auto& optimizer, amp::GradScaler& scaler) {
    optimizer.zero_grad();
    auto loss = criterion(net(x), y);
    scaler.scale(loss).backward();
    scaler.step(optimizer);
    scaler.update();
  });
  skips([&](auto& net, auto& optimizer, amp::GradScaler& scaler) {
    train::fit(net, criterion, optimizer, data::DataLoader(set, {.batch_size = 4}),
               {.scaler = &scaler}, train::Accuracy(device, 3));
  });
  skips([&](auto& net, auto& optimizer, amp::GradScaler& scaler) {
    train::fit(net, criterion, optimizer, data::DataLoader(set, {.batch_size = 4}),
               {.scaler = &scaler}, train::ClipGradNorm{1.0});
  });
}

TEST_CASE_TEMPLATE("a label that is no class is refused, or found", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Network net(device, convolutions, {2, 6, 6});
  const Tensor<label_t, D> labels(device, {3}, {0, 3, 1});
  const auto x = inputs_with(device, {3, 2, 6, 6}, 0, 1);
  net.detect_anomaly();
  optim::SGD optimizer(net, {.lr = 0.1});
  const nn::CrossEntropyLoss criterion;
  train::Step step(net, criterion, optimizer);
  const std::vector<float> before = parameters_of(net);
  CHECK(contains(error_of([&] { step(x, labels); }),
                 DeviceTraits<D>::has_host_memory
                     ? "label 3 of sample 1 of the batch is no class (want 0 to 2)"
                     : "the losses of the samples have nan at [1]"));
  CHECK(same_bits(parameters_of(net), before));
}

TEST_CASE("fit stops with the message") {
  Host& host = test_device<Host>();
  manual_seed(5);
  Network net(host, [](nn::Value x) { return nn::linear(x, 3); }, {2});
  net.detect_anomaly();
  optim::SGD optimizer(net, {.lr = 0.1});
  const nn::CrossEntropyLoss criterion;
  const Tensor<float, Host> x = inputs_with(host, {12, 2}, 7 * 2 + 1, infinite);
  const Tensor<label_t, Host> y = labels_of(host, 12);
  const data::TensorDataset set(x, y);
  const std::vector<float> before = parameters_of(net);
  const std::string message = error_of([&] {
    train::fit(net, criterion, optimizer, data::DataLoader(set, {.batch_size = 4}), {.epochs = 1});
  });
  CHECK(contains(message, "the inputs have inf at [3, 1]"));  // of the second batch
  CHECK(!same_bits(parameters_of(net), before));              // the first one was trained on
}

TEST_CASE("statistics and gradients of the search are not left behind") {
  Host& host = test_device<Host>();
  const nn::MSELoss criterion;
  const Tensor<float, Host> x = inputs_with(host, {4, 2}, 0, 1),
                            y(host, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
                            // Its square is infinite.
      far_away(host, {4, 2}, {1, 2, 3, 4, 5, 1e30f, 7, 8});
  const auto trained = [&](bool checked) {
    manual_seed(5);
    Network net(host, [](nn::Value of) { return nn::linear(nn::batch_norm(nn::linear(of, 4)), 2); },
                {2});
    optim::SGD optimizer(net, {.lr = 0.1});
    train::Step step(net, criterion, optimizer, {.accumulate = 3});
    step(x, y);
    net.detect_anomaly(checked);
    CHECK(error_of([&] { step(x, far_away); }).empty() == !checked);
    std::vector<float> found(net.buffers().data(), net.buffers().data() + net.buffers().numel());
    found.insert(found.end(), net.gradients().data(),
                 net.gradients().data() + net.gradients().size());
    return found;
  };
  CHECK(same_bits(trained(true), trained(false)));
}
