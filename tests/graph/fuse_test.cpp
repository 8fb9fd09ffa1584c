#include <array>
#include <doctest/doctest.h>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/graph/fuse.hpp>
#include <gpunet/ops/add.hpp>
#include <gpunet/ops/batch_norm/batch_norm.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "support/networks.hpp"

using namespace gpunet;

namespace {

// Neighbours of every kind: named and not, with and without a ReLU and a pooling behind them.
// .
using Mixed =
    nn::Sequential<nn::Input<2, 12, 12>,
                   // 0.
                   nn::Conv2d<4, 3, nn::Padding<1>>, nn::ReLU, nn::MaxPool2d<2>,
                   // 3.
                   nn::Named<"middle", nn::Conv2d<5, 3>>, nn::Named<"act", nn::ReLU>, nn::ReLU,
                   // 6.
                   nn::Conv2d<3, 1>, nn::MaxPool2d<2>,
                   // .
                   nn::Flatten,
                   // 9.
                   nn::Linear<9>, nn::ReLU,
                   // 11.
                   nn::Named<"11x", nn::Linear<4>>>;

std::vector<std::string> names(const Graph& graph) {
  std::vector<std::string> all;
  for (const ParameterInfo& parameter : graph.parameters)
    all.push_back(concat(parameter.name, " ", to_string(parameter.sizes), " ", parameter.offset));
  return all;
}

template <class Net>
Graph graph_of(const Net& net) {
  return nn::lower<Host, float>(net);
}

constexpr FusePolicy everything{true, false};

}  // namespace

TEST_CASE("a fused network has fewer nodes, and the same parameters under the same names") {
  const Graph lenet = fuse(graph_of(LeNet{}), everything),
              mixed = fuse(graph_of(Mixed{}), everything);
  CHECK(lenet.nodes.size() == 6);  // two blocks, Flatten, three linear layers
  CHECK(mixed.nodes.size() == 8);
  CHECK(names(lenet) == names(graph_of(LeNet{})));
  CHECK(names(mixed) == names(graph_of(Mixed{})));
  CHECK(mixed.parameters[4].name == "6.weight");
  REQUIRE(lenet.nodes[0].as<Conv2dOp>());
  CHECK(lenet.nodes[0].as<Conv2dOp>()->pool);
  CHECK(lenet.nodes[0].as<Conv2dOp>()->activation == Activation::relu);
  CHECK(lenet.output_of(lenet.nodes[0]) == Sizes{6, 14, 14});
  REQUIRE(mixed.nodes[1].as<Conv2dOp>());
  CHECK(!mixed.nodes[1].as<Conv2dOp>()->pool);
  REQUIRE(lenet.nodes[3].as<LinearOp>());
  CHECK(lenet.nodes[3].as<LinearOp>()->activation == Activation::relu);
  CHECK(!lenet.nodes[3].as<LinearOp>()->keeps_relu_bits);
  CHECK(fuse(graph_of(LeNet{}), {true, true}).nodes[3].as<LinearOp>()->keeps_relu_bits);
}

TEST_CASE("where no backward pass follows, convolutions clamp what they store") {
  using Clamped =
      nn::Sequential<nn::Input<4, 9, 9>, nn::Conv2d<4, 3, nn::Groups<4>>, nn::ReLU,     //
                     nn::Conv2d<4, 3>, nn::ReLU6, nn::MaxPool2d<2>,                     //
                     nn::ConvTranspose2d<3, 2>, nn::ReLU6, nn::Conv2d<2, 1>, nn::Tanh,  //
                     nn::Conv2d<2, 1>, nn::ReLU, nn::MaxPool2d<2>>;
  CHECK(fuse(graph_of(Clamped{}), everything).nodes.size() == 10);
  const Graph graph = fuse(graph_of(Clamped{}),
                           {.blocks = true, .keeps_relu_bits = false, .clamps_convolutions = true});
  CHECK(graph.nodes.size() == 8);
  REQUIRE(graph.nodes[0].as<Conv2dOp>());
  CHECK(graph.nodes[0].as<Conv2dOp>()->bounds.low == 0);
  CHECK(graph.nodes[0].as<Conv2dOp>()->activation == Activation::none);
  CHECK(graph.nodes[1].as<Conv2dOp>()->bounds.high == 6);
  CHECK(graph.nodes[3].as<Conv2dOp>()->bounds.high > 6);  // transposed
  CHECK(graph.nodes.back().as<Conv2dOp>()->pool);
}

TEST_CASE("other element types run the network as it was written on Host") {
  CHECK(fuse_policy<Host, float>.blocks);
  CHECK(!fuse_policy<Host, double>.blocks);
  CHECK(fuse(graph_of(Mixed{}), {false, false}).nodes.size() == 12);
}

TEST_CASE("run-time sizes are fused as static ones") {
  const nn::Sequential net(nn::Input<1, dyn, 8>{Shape(Dim<1>{}, Dim{index_t{10}}, Dim<8>{})},
                           nn::Conv2d(3, 3), nn::ReLU{}, nn::MaxPool2d<2>{}, nn::Flatten{},
                           nn::Linear(7), nn::ReLU{});
  const Graph fused = fuse(graph_of(net), everything);
  CHECK(fused.values[0] == Sizes{1, 10, 8});
  CHECK(fused.values[static_cast<std::size_t>(fused.output)] == Sizes{7});
  CHECK(fused.nodes.size() == 3);
  CHECK(names(fused) == names(graph_of(net)));
}

TEST_CASE("the ReLU behind a sum is fused into it") {
  using Net = nn::Sequential<nn::Input<4>, nn::Residual<nn::Linear<4>, nn::AfterSum<nn::ReLU>>,
                             nn::Linear<2>>;
  const Graph fused = fuse(graph_of(Net{}), everything);
  REQUIRE(fused.nodes.size() == 3);
  CHECK(fused.nodes[1].as<AddOp>()->activation == Activation::relu);
  CHECK(contains(to_string(fused), "(add): Add() -> ReLU"));
}

TEST_CASE("ReLU, ReLU6 and Hardtanh behind a batch normalization are fused into it") {
  using Net = nn::Sequential<nn::Input<2, 3, 3>, nn::BatchNorm2d, nn::ReLU, nn::Conv2d<3, 2>,
                             nn::BatchNorm2d, nn::ReLU6, nn::BatchNorm2d, nn::Hardtanh,
                             nn::BatchNorm2d, nn::Tanh>;
  const Graph fused = fuse(graph_of(Net{}), everything);
  REQUIRE(fused.nodes.size() == 6);
  CHECK(contains(to_string(fused), ") -> ReLU\n"));
  CHECK(contains(to_string(fused), ") -> ReLU6\n"));
  CHECK(fused.nodes[3].as<BatchNormOp>()->clamps->low == -1);
  CHECK(!fused.nodes[4].as<BatchNormOp>()->clamps);
  CHECK(fuse(graph_of(Net{}), {false, false}).nodes.size() == 9);
}

TEST_CASE_TEMPLATE("a clamped batch normalization is bitwise identical to the two layers", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  // Where the value between has another reader, nothing is fused.
  const auto layers = [](bool fused, nn::Value x) {
    for (int layer = 0; layer < 2; ++layer) {
      const nn::Value y = batch_norm(conv2d(x, 5, 3, {.padding = 1}));
      x = layer == 0 ? relu(y) : nn::apply<3>(nn::Hardtanh(-0.5, 0.7), y);
      if (!fused) x = x + 0 * y;
    }
    return flatten(x);
  };
  for (const bool training : {true, false})
    for (const index_t batch : {2, 5, 16, 33}) {
      CAPTURE(training);
      CAPTURE(batch);
      manual_seed(3);
      Network fused(device, [&](nn::Value x) { return layers(true, x); }, {3, 7, 5});
      manual_seed(3);
      Network apart(device, [&](nn::Value x) { return layers(false, x); }, {3, 7, 5});
      CHECK(contains(to_string(fused.fused_graph()), "-> Hardtanh"));
      CHECK(!contains(to_string(apart.fused_graph()), "->"));
      Generator random(4);
      std::vector<float> numbers(static_cast<std::size_t>(batch * 3 * 7 * 5));
      for (float& number : numbers)
        number = random.uniform(-1.0f, 1.0f);
      const Tensor<float, D> x(device, {batch, 3, 7, 5}, numbers);
      std::vector<label_t> classes(static_cast<std::size_t>(batch));
      for (std::size_t i = 0; i < classes.size(); ++i)
        classes[i] = static_cast<label_t>(i % 7);
      const Tensor<label_t, D> labels(device, {batch}, classes);
      const nn::CrossEntropyLoss criterion;
      for (Network<D, float>* net : {&fused, &apart}) {
        net->train(training);
        net->zero_grad();
        criterion((*net)(x), labels).backward();
      }
      CHECK(fused(x).to_vector() == apart(x).to_vector());
      CHECK(gradients_of(fused) == gradients_of(apart));
      CHECK(to_vector(device, fused.buffers()) == to_vector(device, apart.buffers()));
    }
}

TEST_CASE("what others read is not fused away") {
  Lowering<Host, float> builder(Sizes{4});
  const auto linear = [&](value_t x) {
    return nn::lower(builder, nn::Linear<4>{}, x, Shape<4>{});
  };
  const value_t a = linear(GraphBuilder::input);
  const value_t b = nn::lower(builder, nn::ReLU{}, a, Shape<4>{});
  const value_t sum = builder.add(AddOp{}, std::array{a, b}, Sizes{4});
  const Graph fused = fuse(std::move(builder).finish(sum), everything);
  CHECK(fused.nodes.size() == 3);
  CHECK(fused.nodes[0].as<LinearOp>()->activation == Activation::none);
}

TEST_CASE_TEMPLATE("a fused network in float computes what the network as written does in double",
                   D, GPUNET_TEST_DEVICES) {
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
