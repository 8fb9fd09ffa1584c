#include <doctest/doctest.h>
#include <string>
#include <type_traits>
#include <vector>

#include <gpunet/model/model.hpp>
#include <gpunet/nn/conv2d.hpp>
#include <gpunet/nn/cross_entropy_loss.hpp>
#include <gpunet/nn/flatten.hpp>
#include <gpunet/nn/linear.hpp>
#include <gpunet/nn/max_pool2d.hpp>
#include <gpunet/nn/named.hpp>
#include <gpunet/nn/relu.hpp>
#include <gpunet/nn/sequential.hpp>
#include <gpunet/tensor/rand.hpp>

#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

// The same layers twice. In the blocks, a convolution, its ReLU and its pooling stand in three of
// them.
using Flat =
    nn::Sequential<nn::Input<3, 12, 12>, nn::Conv2d<4, 3>, nn::ReLU, nn::MaxPool2d<2>,
                   nn::Conv2d<5, 3>, nn::ReLU, nn::Flatten, nn::Linear<7>, nn::ReLU, nn::Linear<3>>;
using Convolution = nn::Sequential<nn::Named<"conv", nn::Conv2d<4, 3>>, nn::Sequential<nn::ReLU>>;
using Nested = nn::Sequential<nn::Input<3, 12, 12>,
                              nn::Named<"features", nn::Sequential<Convolution, nn::MaxPool2d<2>,
                                                                   nn::Conv2d<5, 3>, nn::ReLU>>,
                              nn::Flatten, nn::Sequential<nn::Linear<7>, nn::ReLU>, nn::Linear<3>>;

template <class Net>
std::vector<std::string> layer_names(const Net& net) {
  std::vector<std::string> names;
  for (const Node& node : nn::lower<void, void>(net).nodes)
    names.push_back(node.name);
  return names;
}

template <class M>
std::vector<float> gradients_of(const M& model) {
  std::vector<float> values(static_cast<std::size_t>(model.gradients().size()));
  model.device().download(values.data(), model.gradients().data(), values.size() * sizeof(float));
  return values;
}

}  // namespace

TEST_CASE("the layers of blocks are layers of the network, called after both") {
  CHECK(layer_names(Nested{}) == std::vector<std::string>{"features.0.conv", "features.0.1.0",
                                                          "features.1", "features.2", "features.3",
                                                          "1", "2.0", "2.1", "3"});
  CHECK(Nested{}.output().sizes() == Sizes{3});
}

TEST_CASE("blocks of sizes that the run tells") {
  const nn::Sequential hidden(nn::Linear(8), nn::ReLU());
  const nn::Sequential net(nn::Input<4>(),
                           nn::Named<"first", std::remove_const_t<decltype(hidden)>>(hidden),
                           hidden, nn::Linear(2));
  CHECK(layer_names(net) == std::vector<std::string>{"first.0", "first.1", "1.0", "1.1", "2"});
  CHECK(nn::lower<void, void>(net).values[2] == Sizes{8});
  CHECK(net.output().sizes() == Sizes{2});
}

TEST_CASE("a layer may not be called as one in a block") {
  using Net = nn::Sequential<nn::Input<3>, nn::Named<"head.0", nn::Linear<2>>,
                             nn::Named<"head", nn::Sequential<nn::Linear<2>>>>;
  CHECK(error_of([] { nn::lower<void, void>(Net{}); }) ==
        "gpunet::Model: two layers are called head.0 (their parameters would be one key), rename "
        "one");
}

TEST_CASE("names of one digit and of two") {
  using Block = nn::Sequential<nn::ReLU, nn::ReLU, nn::ReLU, nn::ReLU, nn::ReLU, nn::ReLU, nn::ReLU,
                               nn::ReLU, nn::ReLU, nn::ReLU, nn::ReLU, nn::Linear<2>>;
  CHECK(layer_names(nn::Sequential<nn::Input<4>, Block>{})[9] == "0.9");
  CHECK(layer_names(nn::Sequential<nn::Input<4>, Block>{})[11] == "0.11");
}

TEST_CASE_TEMPLATE("a network with blocks computes what the same layers do without", D,
                   GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  manual_seed(3);
  Model<Flat, D> flat(device);
  manual_seed(3);
  Model<Nested, D> nested(device);
  REQUIRE(nested.named_parameters().size() == flat.named_parameters().size());
  CHECK(nested.named_parameters()[0].name == "features.0.conv.weight");
  CHECK(nested.named_parameters()[7].name == "3.bias");
  CHECK(nested.fused_graph().nodes.size() == flat.fused_graph().nodes.size());
  CHECK(nested.fused_graph().nodes[0].name == layer_names(Nested{})[0]);

  const auto inputs = randn(device, {6, 3, 12, 12});
  const Tensor<label_t, D> labels(device, {6}, std::vector<label_t>{0, 1, 2, 2, 1, 0});
  nn::CrossEntropyLoss criterion;
  criterion(flat(inputs), labels).backward();
  criterion(nested(inputs), labels).backward();
  CHECK(nested(inputs).to_vector() == flat(inputs).to_vector());
  CHECK(gradients_of(nested) == gradients_of(flat));
}
