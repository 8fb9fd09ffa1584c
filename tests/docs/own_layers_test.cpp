#include "docs/own_layers_check.hpp"  // first: it takes installed headers only
#include "support/check_gradients.hpp"
#include "support/errors.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of the layers of docs/adding_a_layer.md", D, GPUNET_TEST_DEVICES) {
  CHECK_NOTHROW(mine::check_gradients(test_device<D>()));
}

TEST_CASE_TEMPLATE("PReLU of docs/adding_a_layer.md has PyTorch's numbers", D, GPUNET_TEST_DEVICES) {
  CHECK(mine::has_numbers_of_pytorch(test_device<D>()));
}

TEST_CASE_TEMPLATE("a network learns with layers of its own", D, GPUNET_TEST_DEVICES) {
  using Net = nn::Sequential<nn::Input<2>, nn::Linear<8>, mine::PReLU, nn::Linear<4>,
                             nn::Elementwise<mine::LeakyReLU>, nn::Linear<2>>;
  CHECK(to_string(Net{}) ==
        "Sequential(\n"
        "  (0): Linear(in_features=2, out_features=8, bias=True)\n"
        "  (1): PReLU(num_parameters=1)\n"
        "  (2): Linear(in_features=8, out_features=4, bias=True)\n"
        "  (3): LeakyReLU(negative_slope=0.01)\n"
        "  (4): Linear(in_features=4, out_features=2, bias=True)\n"
        ")");
  manual_seed(0);
  D& device = test_device<D>();
  Model<Net, D> net(device);
  nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(net, {.lr = 0.05});
  const Tensor<float, D> corners(device, {4, 2}, {0, 0, 0, 1, 1, 0, 1, 1});
  const Tensor<label_t, D> labels(device, {4}, {0, 1, 1, 0});
  train::Step step(net, criterion, optimizer);
  CHECK(step.repeat(100, corners, labels).to_vector().back() < 0.05f);  // 0.69 without learning
  const auto slope = get_parameter(net, "1.weight");
  CHECK(slope.sizes() == Sizes{1});
}

TEST_CASE_TEMPLATE("gradients of the loss of docs/adding_a_layer.md", D, GPUNET_TEST_DEVICES) {
  CHECK_NOTHROW(mine::check_loss(test_device<D>()));
}

// mse_loss(torch.tensor([1., 2., 4.]), torch.tensor([0.5, 2., 2.])) is (0.25 + 0 + 4) / 3
TEST_CASE_TEMPLATE("a network learns with a loss of its own", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<nn::Sequential<nn::Input<1>, nn::Linear<1>>, D> net(device);
  const std::vector<float> weight_and_bias = {1, 0};
  for (std::size_t i = 0; i < 2; ++i)
    device.upload(get_parameter(net, i == 0 ? "0.weight" : "0.bias").data(), &weight_and_bias[i], sizeof(float));
  const Tensor<float, D> inputs(device, {3, 1}, {1, 2, 4}), targets(device, {3}, {0.5, 2, 2});
  const mine::MSELoss criterion;
  CHECK(criterion(net(inputs), targets).item() == doctest::Approx(4.25 / 3).epsilon(1e-6));
  optim::SGD optimizer(net, {.lr = 0.05});
  train::Step step(net, criterion, optimizer);
  const std::vector<float> losses = step.repeat(500, inputs, targets).to_vector();
  CHECK(losses.front() == doctest::Approx(4.25 / 3).epsilon(1e-6));
  // Least squares: y = 0.5 + 3 / 7 x, whose squares of errors add up to 9 / 14.
  CHECK(losses.back() == doctest::Approx(3.0 / 14).epsilon(1e-4));
}

TEST_CASE("a loss of its own refuses wrong run-time sizes") {
  Host host({.threads = 1});
  nn::Sequential layers{nn::Input<1>{}, nn::Linear{2}};
  Model net(host, layers);
  const Tensor<float, Host> inputs(host, {1, 1}, {1}), targets(host, {1}, {1});
  CHECK(error_of([&] { mine::MSELoss{}(net(inputs), targets); }) ==
        "mine::MSELoss: 2 outputs (want 1), end the network with Linear<1>");
}
