// Graphs with branches: values that several nodes read, nodes with several inputs.
#include <array>
#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/nn/gradient_check.hpp>
#include <gpunet/ops/add.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"

using namespace gpunet;

namespace {

// y = x + x
struct Twice {
  constexpr auto output(auto in) const { return in; }
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return builder.add(AddOp{}, std::array{x, x}, in.sizes());
  }
};

using Block = nn::Residual<nn::Conv2d<3, 3, nn::Padding<1>>, nn::ReLU,
                           nn::Conv2d<3, 3, nn::Padding<1>>, nn::AfterSum<nn::ReLU>>;
using Net = nn::Sequential<nn::Input<1, 6, 6>, nn::Conv2d<3, 3, nn::Padding<1>>, nn::ReLU,
                           nn::Named<"block", Block>, nn::Residual<nn::Residual<nn::Tanh>, Twice>,
                           nn::Flatten, nn::Linear<3>>;

}  // namespace

TEST_CASE_TEMPLATE("gradients through branches", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  nn::check_layer_gradients(device, Twice{}, Shape<3>{});
  nn::check_layer_gradients(device, nn::Residual<nn::Tanh>{}, Shape<2, 2>{});
  nn::check_layer_gradients(device, nn::Residual<nn::Linear<3>>{}, Shape<3>{});
  nn::check_layer_gradients(device, nn::Residual<nn::Linear<3>, Twice, nn::Sigmoid>{}, Shape<3>{});
  nn::check_layer_gradients(
      device, nn::Residual<nn::Residual<nn::Linear<2>>, nn::Linear<2>, nn::Residual<nn::Tanh>>{},
      Shape<2>{});
  // Not Block: finite differences do not see the kinks of a ReLU behind a convolution.
  nn::check_layer_gradients(device, nn::Residual<nn::Conv2d<2, 3, nn::Padding<1>>, nn::Tanh>{},
                            Shape<2, 3, 3>{});
}

TEST_CASE_TEMPLATE("a network with branches computes in float what it does in double", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Host& host = test_device<Host>();
  for (const index_t batch : {1, 5, 48}) {
    CAPTURE(batch);
    manual_seed(3);
    Model<Net, D> net(device);
    manual_seed(3);
    Model<Net, Host, double> exact(host);
    CHECK(net.named_parameters()[2].name == "block.0.weight");
    const std::vector<float> parameters = parameters_of(net);
    const std::vector<double> wide(parameters.begin(), parameters.end());
    host.upload(exact.parameters().data(), wide.data(), wide.size() * sizeof(double));
    const std::vector<float> x = randn(host, {batch, 1, 6, 6}).to_vector();
    const Tensor<float, D> inputs(device, {batch, 1, 6, 6}, x);
    const Tensor<double, Host> exact_inputs(host, {batch, 1, 6, 6},
                                            std::vector<double>(x.begin(), x.end()));
    std::vector<label_t> labels;
    for (index_t i = 0; i < batch; ++i)
      labels.push_back(static_cast<label_t>(i % 3));
    const nn::CrossEntropyLoss criterion;
    auto loss = criterion(net(inputs), Tensor<label_t, D>(device, {batch}, labels));
    auto exact_loss = criterion(exact(exact_inputs), Tensor<label_t, Host>(host, {batch}, labels));
    CHECK(loss.item() == doctest::Approx(exact_loss.item()).epsilon(1e-5));
    loss.backward();
    exact_loss.backward();
    // Some hundred additions in float.
    CHECK(nn::relative_error(gradients_of(net), gradients_of(exact)) < 1e-5);
  }
}

TEST_CASE_TEMPLATE("training steps through branches are bitwise identical however they are made", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto train = [&](bool whole_steps) {
    manual_seed(4);
    Model<Net, D> net(device);
    const Tensor<float, D> inputs = randn(device, {5, 1, 6, 6});
    const Tensor<label_t, D> labels(device, {5}, {0, 1, 2, 1, 0});
    const nn::CrossEntropyLoss criterion;
    optim::SGD optimizer(net, {.lr = 0.1, .momentum = 0.5});
    train::Step step(net, criterion, optimizer);
    for (int i = 0; i < 4; ++i)
      if (whole_steps) {
        step(inputs, labels);
      } else {
        optimizer.zero_grad();
        criterion(net(inputs), labels).backward();
        optimizer.step();
      }
    return parameters_of(net);
  };
  CHECK(train(true) == train(false));
}
