#include <cmath>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"

using namespace gpunet;

namespace {

// Few parameters: the check runs the network four times for each.
using Tiny = nn::Sequential<nn::Input<1, 5, 4>, nn::Conv2d<2, 2>, nn::ReLU, nn::MaxPool2d<2>,
                            nn::Flatten, nn::Named<"out", nn::Linear<3>>>;
using Pictures =
    nn::Sequential<nn::Input<2, 4, 4>, nn::Flatten, nn::Linear<5>, nn::Softmax, nn::Linear<2>>;
using Overlapping =
    nn::Sequential<nn::Input<1, 6, 5>, nn::Conv2d<2, 3, nn::Padding<1>, nn::Stride<2>>,
                   nn::MaxPool2d<2, nn::Stride<1>>, nn::Conv2d<3, 2>, nn::Flatten>;

}  // namespace

TEST_CASE_TEMPLATE("gradients of whole networks", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  check_network_gradients(device, Tiny{}, 3, nn::CrossEntropyLoss{});
  if constexpr (std::same_as<D, Host>)
    for (index_t batch : {1, 2, 3, 5, 16, 21}) {
      check_network_gradients(device, Tiny{}, batch, nn::CrossEntropyLoss{});
      check_network_gradients(device, Pictures{}, batch, nn::CrossEntropyLoss{});
      check_network_gradients(device, Overlapping{}, batch, nn::CrossEntropyLoss{});
    }
}

// By first principles: of the cross-entropy of W x, the gradient by x is W^T (softmax(W x) -
// one_hot(label)).
TEST_CASE_TEMPLATE("the gradient by the input is that of a parameter that is added to it", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Network<D, double> net(device,
                         [](nn::Value x) {
                           return linear(x + nn::parameter(x, nn::constant("shift", {4}, 0)), 3,
                                         {.bias = false, .name = "fc"});
                         },
                         {4});
  const Tensor<double, D> x(device, {1, 4}, {1, -2, 3, 0.5});
  const Tensor<label_t, D> label(device, {1}, {2});
  const auto output = net(x);
  const std::vector<double> y = output.tensor().to_vector(),
                            w = get_parameter(net, "fc.weight").to_vector();
  nn::CrossEntropyLoss{}(output, label).backward();
  const std::vector<double> by_input = get_parameter(net, "shift").grad().to_vector();
  double sum = 0;
  for (const double logit : y)
    sum += std::exp(logit);
  for (std::size_t j = 0; j < 4; ++j) {
    double expected = 0;
    for (std::size_t k = 0; k < 3; ++k)
      expected += w[k * 4 + j] * (std::exp(y[k]) / sum - (k == 2 ? 1 : 0));
    CHECK(by_input[j] == doctest::Approx(expected).epsilon(1e-12));
  }
}
