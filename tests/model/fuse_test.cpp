#include <doctest/doctest.h>
#include <string>
#include <type_traits>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/training.hpp"

using namespace gpunet;

namespace {

// Neighbours of every kind: named and not, with and without a ReLU and a pooling behind them.
using Mixed = nn::Sequential<nn::Input<2, 12, 12>,                                                         //
                             nn::Conv2d<4, 3, nn::Padding<1>>, nn::ReLU, nn::MaxPool2d<2>,                 // 0
                             nn::Named<"middle", nn::Conv2d<5, 3>>, nn::Named<"act", nn::ReLU>, nn::ReLU,  // 3
                             nn::Conv2d<3, 1>, nn::MaxPool2d<2>,                                           // 6
                             nn::Flatten,                                                                  //
                             nn::Linear<9>, nn::ReLU,                                                      // 9
                             nn::Named<"11x", nn::Linear<4>>>;                                             // 11

template <class Net>
std::vector<std::string> names(const NetworkPlan<Net>& plan) {
  std::vector<std::string> all;
  for (const ParameterInfo& parameter : plan.parameters)
    all.push_back(concat(parameter.name, " ", to_string(parameter.sizes), " ", parameter.offset));
  return all;
}

template <class Net, class D>
using Fused = typename Model<Net, D, float>::FusedNet;

}  // namespace

TEST_CASE_TEMPLATE("a fused network has fewer layers, and the same parameters under the same names", D,
                   GPUNET_TEST_DEVICES) {
  static_assert(Fused<LeNet, D>::depth == 6);  // two blocks, Flatten, three linear layers
  static_assert(Fused<Mixed, D>::depth == 8);
  D& device = test_device<D>();
  CHECK(names(NetworkPlan(fuse(device, LeNet{}, float{}))) == names(NetworkPlan(LeNet{})));
  CHECK(names(NetworkPlan(fuse(device, Mixed{}, float{}))) == names(NetworkPlan(Mixed{})));
  CHECK(NetworkPlan(fuse(device, Mixed{}, float{})).parameters[4].name == "6.weight");
}

TEST_CASE("other element types run the network as it was written on Host") {
  static_assert(std::is_same_v<Model<Mixed, Host, double>::FusedNet, Mixed>);
  CHECK(true);
}

TEST_CASE("run-time sizes stay run-time sizes") {
  const nn::Sequential net(nn::Input<1, dyn, 8>{Shape(Dim<1>{}, Dim{index_t{10}}, Dim<8>{})}, nn::Conv2d(3, 3),
                           nn::ReLU{}, nn::MaxPool2d<2>{}, nn::Flatten{}, nn::Linear(7), nn::ReLU{});
  const auto fused = fuse(test_device<Host>(), net, float{});
  CHECK(fused.input().numel() == 80);
  CHECK(fused.output().numel() == 7);
  CHECK(names(NetworkPlan(fused)) == names(NetworkPlan(net)));
}

TEST_CASE_TEMPLATE("a fused network in float computes what the network as written does in double", D,
                   GPUNET_TEST_DEVICES) {
  Host& host = test_device<Host>();
  D& device = test_device<D>();
  for (index_t batch : {1, 3, 16, 50}) {
    CAPTURE(batch);
    manual_seed(5);
    Model<Mixed, D, float> fused(device);
    manual_seed(5);
    Model<Mixed, Host, double> plain(host);
    const std::vector<float> parameters = parameters_of(fused);
    const std::vector<double> weights(parameters.begin(), parameters.end());
    host.upload(plain.parameters().data(), weights.data(), weights.size() * sizeof(double));

    Generator random(7);
    Tensor<float, Host> x(host, Sizes{batch, 2, 12, 12});
    Tensor<double, Host> wide(host, x.sizes());
    for (index_t i = 0; i < x.view().numel(); ++i)
      wide.data()[i] = x.data()[i] = random.uniform(-1.0f, 1.0f);
    Tensor<label_t, Host> labels(host, Sizes{batch});
    for (index_t i = 0; i < batch; ++i)
      labels.data()[i] = static_cast<label_t>(i % 4);

    nn::CrossEntropyLoss criterion;
    fused.zero_grad();
    plain.zero_grad();
    const Tensor<float, D> inputs = x.to(device);
    const Tensor<label_t, D> targets = labels.to(device);
    auto loss = criterion(fused(inputs), targets);
    auto expected = criterion(plain(wide), labels);
    CHECK(loss.item() == doctest::Approx(expected.item()).epsilon(1e-5));
    loss.backward();
    expected.backward();
    double largest = 0, worst = 0;
    const std::vector<float> gradients = gradients_of(fused);
    for (index_t i = 0; i < plain.gradients().size(); ++i) {
      const double want = plain.gradients().data()[i];
      largest = std::max(largest, std::abs(want));
      worst = std::max(worst, std::abs(want - gradients[static_cast<std::size_t>(i)]));
    }
    CHECK(worst < 1e-5 * largest);  // some hundred additions in float
  }
}
