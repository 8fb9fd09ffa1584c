#include "docs/own_layers.hpp"

#include "support/errors.hpp"
#include "support/gradient_check.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of the layers of docs/adding_a_layer.md", D, GPUNET_TEST_DEVICES) {
  nn::check_layer_gradients(test_device<D>(), mine::LeakyReLU{0.1}, Shape<7>{});
  nn::check_layer_gradients(test_device<D>(), mine::PReLU{}, Shape<2, 3, 1>{});
}

// layer = torch.nn.PReLU(); x = torch.tensor([[-2.0], [-0.5], [0.0], [1.5]], requires_grad=True)
// y = layer(x); y.backward(torch.tensor([[1.0], [2.0], [3.0], [4.0]])); print(y, x.grad, layer.weight.grad)
TEST_CASE_TEMPLATE("PReLU of docs/adding_a_layer.md has PyTorch's numbers", D, GPUNET_TEST_DEVICES) {
  nn::LayerRun<float, D> layer(test_device<D>(), mine::PReLU{}, Shape<1>{}, Slice{4, 4, 1});
  layer.set_parameters({0.25f});
  CHECK(layer.forward({-2, -0.5, 0, 1.5}) == std::vector<float>{-0.5, -0.125, 0, 1.5});
  const auto gradients = layer.backward({1, 2, 3, 4});
  CHECK(gradients.dx == std::vector<float>{0.25, 0.5, 0.75, 4});
  CHECK(gradients.parameters == std::vector<float>{-3});
}

TEST_CASE_TEMPLATE("a network learns with layers of its own", D, GPUNET_TEST_DEVICES) {
  using Net =
      nn::Sequential<nn::Input<2>, nn::Linear<8>, mine::PReLU, nn::Linear<4>, mine::LeakyReLU, nn::Linear<2>>;
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
  for (const Slice& slice : test_slices<D>())
    check_loss_gradients(test_device<D>(), mine::MSELoss{}, 1, slice);
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
