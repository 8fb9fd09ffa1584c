#include "docs/own_layers_check.hpp"  // first: it takes installed headers only
#include "support/check_gradients.hpp"
#include "support/errors.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of the layers of docs/adding_a_layer.md", D, GPUNET_TEST_DEVICES) {
  CHECK_NOTHROW(mine::check_gradients(test_device<D>()));
}

TEST_CASE_TEMPLATE("PReLU of docs/adding_a_layer.md has PyTorch's numbers", D,
                   GPUNET_TEST_DEVICES) {
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

TEST_CASE_TEMPLATE("gradients of the losses of docs/adding_a_layer.md", D, GPUNET_TEST_DEVICES) {
  CHECK_NOTHROW(mine::check_losses(test_device<D>()));
}

// x = torch.tensor([[1., 2.], [3., -1.]]); t = torch.tensor([[2., 1.], [1., 1.]])
// (1 - torch.cosine_similarity(x, t)).mean(), torch.log(torch.cosh(x - t)).mean()
TEST_CASE_TEMPLATE("a network learns with losses of its own", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<nn::Sequential<nn::Input<2>, nn::Linear<2>>, D> net(device);
  const std::vector<float> identity{1, 0, 0, 1}, zero{0, 0};
  device.upload(get_parameter(net, "0.weight").data(), identity.data(), sizeof(float) * 4);
  device.upload(get_parameter(net, "0.bias").data(), zero.data(), sizeof(float) * 2);
  const Tensor<float, D> inputs(device, {2, 2}, {1, 2, 3, -1}),
      targets(device, {2, 2}, {2, 1, 1, 1});
  const mine::CosineLoss criterion;
  CHECK(criterion(net(inputs), targets).item() == doctest::Approx(0.376393).epsilon(1e-5));
  CHECK(nn::ElementwiseLoss<mine::LogCosh>{}(net(inputs), targets).item() ==
        doctest::Approx(0.879393).epsilon(1e-5));
  optim::SGD optimizer(net, {.lr = 0.5});
  train::Step step(net, criterion, optimizer);
  CHECK(step.repeat(300, inputs, targets).to_vector().back() < 1e-4f);
}
