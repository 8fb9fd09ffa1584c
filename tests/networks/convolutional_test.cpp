// The convolutional networks of gpunet/networks against PyTorch and torchvision:
// reference/networks.py.
#include <string>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/networks.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/network_keys.hpp"
#include "support/reference_file.hpp"
#include "support/sanitizers.hpp"

using namespace gpunet;

namespace {

const ReferenceFile& reference() {
  static const ReferenceFile file("networks");
  return file;
}

// Compares keys, the losses of steps of SGD on one batch, and the outputs after them with
// PyTorch's. Rounding is another one where sums have another order, and what it changes grows from
// step to step: `most` is the relative error allowed. Sanitizers watch one step.
template <class D, class Criterion>
void check_network(const std::string& name, Network<D, double>& net, const Sizes& images, double lr,
                   const Criterion& criterion, const auto& targets, double most) {
  CAPTURE(name);
  check_keys(net, reference(), name + ".keys");
  const Tensor<double, D> x(net.device(), images, pattern<double>(images.numel(), 7, 3, 23));
  optim::SGD optimizer(net, {.lr = lr, .momentum = 0.9});
  train::Step step(net, criterion, optimizer);
  std::vector<double> losses = reference().values(name + ".losses");
  if (under_sanitizers) losses.resize(1);
  for (const double loss : losses)
    CHECK(step(x, targets).item() == doctest::Approx(loss).epsilon(most));
  net.eval();
  if (under_sanitizers) return;
  CHECK(relative_error(net(x).to_vector(), reference().values(name + ".y")) < most);
}

// The classes 0, 1, 2, 0, ...
template <class D>
Tensor<label_t, D> classes(D& device, index_t batch) {
  std::vector<label_t> numbers;
  for (index_t i = 0; i < batch; ++i)
    numbers.push_back(static_cast<label_t>(i % 3));
  return {device, {batch}, numbers};
}
// The pixels of an object.
template <class D>
Tensor<double, D> masks(D& device, const Sizes& sizes) {
  std::vector<double> numbers = pattern<double>(sizes.numel(), 5, 1, 17);
  for (double& number : numbers)
    number = number > 0;
  return {device, sizes, numbers};
}

}  // namespace

TEST_CASE("ResNet-18 learns as torchvision's does") {
  Host& host = test_device<Host>();
  manual_seed(1);
  Model<networks::ResNet18<32, 10>, Host, double> net(host);
  networks::init_convolutions(net);
  check_network("resnet18", net, {4, 3, 32, 32}, 0.0001, nn::CrossEntropyLoss{}, classes(host, 4),
                1e-9);

  // The same network as a function of values takes the weights by name.
  Network<Host, double> same(host, networks::ResNet{.classes = 10}, {3, 32, 32});
  io::load(same, net);
  same.eval();
  const Tensor<double, Host> x(host, {1, 3, 32, 32}, pattern<double>(3 * 32 * 32, 5, 2, 19));
  CHECK(same(x).to_vector() == net(x).to_vector());
}

TEST_CASE("networks as functions of values learn as PyTorch's do, ResNet-20 for a hundred steps") {
  Host& host = test_device<Host>();
  manual_seed(1);
  Network<Host, double> resnet(host, networks::CIFARResNet{}, {3, 8, 8});
  networks::init_convolutions(resnet);
  check_network("resnet20", resnet, {4, 3, 8, 8}, 0.001, nn::CrossEntropyLoss{}, classes(host, 4),
                1e-9);
  manual_seed(1);
  Network<Host, double> mobilenet(host, networks::MobileNetV2{.classes = 10, .p = 0}, {3, 32, 32});
  networks::init_mobilenet_v2(mobilenet);
  check_network("mobilenet_v2", mobilenet, {4, 3, 32, 32}, 0.001, nn::CrossEntropyLoss{},
                classes(host, 4), 1e-9);
  manual_seed(1);
  Network<Host, double> unet(host, networks::UNet{4}, {3, 32, 32});
  check_network("unet", unet, {4, 3, 32, 32}, 0.01, nn::BCELoss{}, masks(host, {4, 1, 32, 32}),
                1e-9);
}

TEST_CASE_TEMPLATE("small networks as functions of values learn as PyTorch's do", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(1);
  Network<D, double> resnet(device, networks::CIFARResNet{.n = 1}, {3, 8, 8});
  networks::init_convolutions(resnet);
  check_network("resnet8", resnet, {2, 3, 8, 8}, 0.01, nn::CrossEntropyLoss{}, classes(device, 2),
                1e-9);
  manual_seed(1);
  Network<D, double> unet(device, networks::UNet{2}, {3, 16, 16});
  check_network("unet2", unet, {2, 3, 16, 16}, 0.01, nn::BCELoss{}, masks(device, {2, 1, 16, 16}),
                1e-9);
}
