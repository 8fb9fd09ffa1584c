#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

using Net = nn::Sequential<nn::Input<2, 3, 3>, nn::Conv2d<3, 2>, nn::BatchNorm2d, nn::Flatten,
                           nn::Linear<5>>;

template <class D, class T>
std::vector<T> buffers_of(const Network<D, T>& net) {
  std::vector<T> values(static_cast<std::size_t>(net.buffers().numel()));
  net.device().download(values.data(), net.buffers().data(), values.size() * sizeof(T));
  return values;
}

}  // namespace

TEST_CASE_TEMPLATE("lerp moves parameters towards those of another network, as torch.lerp", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<Net, D, double> target(device), net(device);
  const Tensor<double, D> x(device, {4, 2, 3, 3}, std::vector<double>(72, 0.5));
  net(x);  // changes running statistics
  const auto from = parameters_of(target), to = parameters_of(net);
  CHECK(from != to);
  lerp(target, net, 0.25);
  auto now = parameters_of(target);
  for (std::size_t i = 0; i < now.size(); ++i)
    CHECK(now[i] == doctest::Approx(from[i] + 0.25 * (to[i] - from[i])).epsilon(1e-15));
  // Copied, as by torch.optim.swa_utils.AveragedModel.
  CHECK(buffers_of(target) == buffers_of(net));
  CHECK(parameters_of(net) == to);
  lerp(target, net, 0);
  CHECK(parameters_of(target) == now);
  lerp(target, net, 0.75);
  for (std::size_t i = 0; i < now.size();
       ++i)  // PyTorch's formula from a weight of 0.5 on, see optim/swa_utils_test.cpp
    CHECK(parameters_of(target)[i] == std::fma(-0.25, to[i] - now[i], to[i]));
  now = parameters_of(target);
  lerp(target, net, -3);
  for (std::size_t i = 0; i < now.size(); ++i)
    CHECK(parameters_of(target)[i] == std::fma(-4.0, to[i] - now[i], to[i]));
  lerp(target, net, 1);
  CHECK(parameters_of(target) == to);
  lerp(net, net, 0.5);
  CHECK(parameters_of(net) == to);
}

TEST_CASE("a loss of before lerp cannot run backward") {
  Host& host = test_device<Host>();
  Model<Net, Host> target(host), net(host);
  const nn::CrossEntropyLoss criterion;
  const Tensor<float, Host> x(host, {1, 2, 3, 3}, std::vector<float>(18, 0.5f));
  target.eval();
  const auto loss = criterion(target(x), Tensor<label_t, Host>(host, {1}, {2}));
  lerp(target, net, 0.5);
  CHECK(error_of([&] {
          loss.backward();
        }).find("gpunet::LossValue::backward: the parameters have changed") == 0);
}

TEST_CASE("lerp of networks or weights that make no sense") {
  Host& host = test_device<Host>();
  Model<Net, Host> target(host), net(host);
  using Other = nn::Sequential<nn::Input<2, 3, 3>, nn::Conv2d<3, 2>, nn::BatchNorm2d, nn::Flatten,
                               nn::Linear<6>>;
  using Short = nn::Sequential<nn::Input<2, 3, 3>, nn::Conv2d<3, 2>, nn::BatchNorm2d>;
  Model<Other, Host> other(host);
  Model<Short, Host> less(host);
  const auto before = parameters_of(target);
  CHECK(error_of([&] { lerp(target, other, 0.5); }) ==
        "gpunet::lerp: 3.weight has shape [5, 12] here and [6, 12] in the other network (want the "
        "names and shapes "
        "of all to be the same), copy those that both have by io::load(net, other, {.strict = "
        "false})");
  CHECK(error_of([&] { lerp(target, less, 0.5); }) ==
        "gpunet::lerp: the other network has no 3.weight (want the names and shapes of all to be "
        "the same), copy "
        "those that both have by io::load(net, other, {.strict = false})");
  CHECK(error_of([&] { lerp(less, target, 0.5); }) ==
        "gpunet::lerp: the other network has 3.weight, this one has not (want the names and shapes "
        "of all to be the "
        "same), copy those that both have by io::load(net, other, {.strict = false})");
  CHECK(error_of([&] { lerp(target, net, std::numeric_limits<double>::quiet_NaN()); }) ==
        "gpunet::lerp: a weight of nan (want a finite number, 0 keeps the target, 1 copies the "
        "other network)");
  Host second({.threads = 1});
  Model<Net, Host> elsewhere(second);
  CHECK(error_of([&] { lerp(target, elsewhere, 0.5); }) ==
        "gpunet::lerp: the networks are on two devices, move one with to(device)");
  CHECK(parameters_of(target) == before);
}
