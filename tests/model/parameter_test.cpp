#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>

#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

using Net = nn::Sequential<nn::Input<2>, nn::Named<"fc", nn::Linear<3>>,
                           nn::Named<"norm", nn::BatchNorm1d>>;
using Line = nn::Sequential<nn::Input<2>, nn::Named<"fc", nn::Linear<1>>>;

}  // namespace

TEST_CASE_TEMPLATE("functions of tensors take parameters, buffers and gradients", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<Line, D, double> net(device);
  auto weight = get_parameter(net, "fc.weight");
  copy_(weight, Tensor<double, D>(device, {1, 2}, {3, -4}));
  nn::init::constant_(get_parameter(net, "fc.bias"), 0.5);
  CHECK(norm(weight).item() == 5);
  CHECK((2 * weight + 1).eval().to_vector() == std::vector<double>{7, -7});
  CHECK(t(weight).sizes() == Sizes{2, 1});

  // y = 3 a - 4 b + 0.5; the loss is y^2
  const Tensor<double, D> x(device, {1, 2}, {1, 2}), zero(device, {1, 1}, {0});
  const auto loss = nn::MSELoss{}(net(x), zero);
  CHECK(loss.item() == 4.5 * 4.5);
  loss.backward();
  CHECK(weight.grad().to_vector() == std::vector<double>{-9, -18});
  CHECK(get_parameter(net, "fc.bias").grad().to_vector() == std::vector<double>{-9});
  CHECK(sum(weight.grad()).item() == -27);

  weight -= 0.5 * weight.grad();  // a step of plain gradient descent
  CHECK(weight.to_vector() == std::vector<double>{7.5, 5});
  weight[0] = 1;
  CHECK(get_parameter(net, "fc.weight").to_vector() == std::vector<double>{1, 1});
}

TEST_CASE("a parameter without a gradient says so") {
  Host& host = test_device<Host>();
  Model<Net, Host> net(host);
  const auto weight = get_parameter(net, "fc.weight");
  const char* const none =
      "gpunet::Parameter::grad: fc.weight has no gradient (no backward pass since zero_grad), call "
      "loss.backward() "
      "first";
  CHECK(error_of([&] { weight.grad(); }) == none);
  const Tensor<float, Host> x = rand(host, {4, 2}), y = rand(host, {4, 3});
  net.parameters("fc.bias").requires_grad(false);
  nn::MSELoss{}(net(x), y).backward();
  CHECK(weight.grad().sizes() == Sizes{3, 2});
  CHECK(get_parameter(net, "fc.bias").grad().to_vector() == std::vector<float>(3));
  CHECK(error_of([&] { weight.grad().grad(); }) ==
        "gpunet::Parameter::grad: this is a gradient or a buffer, ask a parameter");
  net.zero_grad();
  CHECK(error_of([&] { weight.grad(); }) == none);
}

TEST_CASE("buffers are found by name") {
  Host& host = test_device<Host>();
  Model<Net, Host> net(host);
  const auto& constant = net;
  CHECK(get_buffer(constant, "norm.running_var").to_vector() == std::vector<float>(3, 1));
  get_buffer(net, "norm.running_mean")[1] = 2;
  CHECK(get_buffer(constant, "norm.running_mean").to_vector() == std::vector<float>{0, 2, 0});
  CHECK(contains(error_of([&] { get_buffer(net, "norm.mean"); }),
                 "gpunet::get_buffer: the network has no buffer norm.mean, it has "
                 "norm.running_mean norm.running_var"));
  Model<Line, Host> line(host);
  CHECK(error_of([&] { get_buffer(line, "x"); }) ==
        "gpunet::get_buffer: the network has no buffer x, it has none");
}
