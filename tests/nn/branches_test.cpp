// Networks with branches: Residual, Parallel, Concat, Repeat, Identity.
#include "reference/branches.hpp"

#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

// The basic block of a ResNet, with torchvision's names.
template <index_t channels, class... Projection>
using Block = nn::Residual<
    nn::Named<"conv1", nn::Conv2d<channels, 3, nn::Stride<sizeof...(Projection) == 0 ? 1 : 2>,
                                  nn::Padding<1>, nn::Bias<false>>>,
    nn::Named<"bn1", nn::BatchNorm2d>, nn::ReLU,
    nn::Named<"conv2", nn::Conv2d<channels, 3, nn::Padding<1>, nn::Bias<false>>>,
    nn::Named<"bn2", nn::BatchNorm2d>, Projection..., nn::AfterSum<nn::ReLU>>;
using Downsample = nn::Projection<
    nn::Named<"downsample",
              nn::Sequential<nn::Conv2d<7, 1, nn::Stride<2>, nn::Bias<false>>, nn::BatchNorm2d>>>;
using ResNet = nn::Sequential<
    nn::Input<2, 8, 8>, nn::Named<"conv1", nn::Conv2d<4, 3, nn::Padding<1>, nn::Bias<false>>>,
    nn::Named<"bn1", nn::BatchNorm2d>, nn::ReLU, nn::Named<"layer1", nn::Repeat<2, Block<4>>>,
    nn::Named<"layer2", nn::Sequential<Block<7, Downsample>, Block<7>>>, nn::Flatten,
    nn::Named<"fc", nn::Linear<3>>>;

using Inception =
    nn::Sequential<nn::Input<2, 8, 8>,
                   nn::Concat<1, nn::Conv2d<3, 1>, nn::Identity,
                              nn::Sequential<nn::Conv2d<4, 3, nn::Padding<1>>, nn::Tanh,
                                             nn::Conv2d<2, 3, nn::Padding<1>>>>,
                   nn::Parallel<nn::Conv2d<3, 3>, nn::Conv2d<3, 3>>, nn::Tanh, nn::Flatten,
                   nn::Linear<3>>;

// The losses of steps of SGD on one batch, as in reference/branches.py.
template <class Net, class D>
std::vector<double> losses(D& device, std::uint64_t seed, index_t samples) {
  manual_seed(seed);
  Model<Net, D, double> net(device);
  std::vector<double> numbers;
  for (index_t i = 0; i < samples * 2 * 8 * 8; ++i)
    numbers.push_back(static_cast<double>((i * 7 + 3) % 23 - 11) / 8);
  std::vector<label_t> classes;
  for (index_t i = 0; i < samples; ++i)
    classes.push_back(static_cast<label_t>(i % 3));
  const Tensor<double, D> x(device, {samples, 2, 8, 8}, numbers);
  const Tensor<label_t, D> labels(device, {samples}, classes);
  const nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.05, .momentum = 0.9});
  train::Step step(net, criterion, optimizer);
  std::vector<double> all;
  for (int i = 0; i < 12; ++i)
    all.push_back(step(x, labels).item());
  return all;
}

// Sums of another order differ in the last digits; a few hundred additions and twelve steps.
void check_close(const std::vector<double>& values, std::span<const double> expected) {
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(values[i] == doctest::Approx(expected[i]).epsilon(1e-10));
}

}  // namespace

TEST_CASE_TEMPLATE("losses of networks with branches are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_close(losses<ResNet>(test_device<D>(), 1, 5), reference::resnet_losses);
  check_close(losses<Inception>(test_device<D>(), 2, 3), reference::inception_losses);
}

TEST_CASE("parameters of residual blocks have torchvision's names and order") {
  const Graph graph = nn::lower<void, void>(ResNet{});
  REQUIRE(graph.parameters.size() == std::size(reference::resnet_keys));
  for (std::size_t i = 0; i < graph.parameters.size(); ++i)
    CHECK(graph.parameters[i].name == reference::resnet_keys[i]);
}

TEST_CASE_TEMPLATE("gradients through Residual, Parallel and Concat", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::Residual<nn::Linear<3>, nn::Tanh>{}, Shape<3>{}, slice);
    check_layer_gradients(
        device,
        nn::Residual<nn::Linear<2>, nn::Projection<nn::Linear<2>>, nn::AfterSum<nn::Tanh>>{},
        Shape<3>{}, slice);
    check_layer_gradients(device, nn::Parallel<nn::Linear<2>, nn::Linear<2>, nn::Linear<2>>{},
                          Shape<3>{}, slice);
    check_layer_gradients(device, nn::Parallel<nn::Identity, nn::Identity, nn::Tanh>{}, Shape<3>{},
                          slice);
    check_layer_gradients(device, nn::Concat<1, nn::Linear<2>, nn::Identity, nn::Tanh>{},
                          Shape<3>{}, slice);
    check_layer_gradients(device, nn::Concat<1, nn::Conv2d<2, 1>, nn::Identity>{}, Shape<3, 2, 2>{},
                          slice);
    check_layer_gradients(device, nn::Concat<2, nn::Tanh, nn::Conv2d<2, 1, nn::Bias<false>>>{},
                          Shape<2, 3, 2>{}, slice);
    check_layer_gradients(device, nn::Concat<3, nn::Identity, nn::Sigmoid>{}, Shape<2, 3, 2>{},
                          slice);
  }
}

TEST_CASE("values are joined in the order of the branches") {
  Host device;
  const auto join = [&]<class L>(const L& layer, const Slice& slice) {
    return nn::LayerRun<float, Host>(device, layer, Shape<2, 2>{}, slice)
        .forward({1, 2, 3, 4, 5, 6, 7, 8});
  };
  for (const Slice& slice : {Slice{2, 2, 1}, Slice{2, 1, 4}, Slice{2, 1, 16}}) {
    CHECK(join(nn::Concat<1, nn::Identity, nn::Identity>{}, slice) ==
          std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8, 5, 6, 7, 8});
    CHECK(join(nn::Concat<2, nn::Identity, nn::Identity>{}, slice) ==
          std::vector<float>{1, 2, 1, 2, 3, 4, 3, 4, 5, 6, 5, 6, 7, 8, 7, 8});
  }
}

TEST_CASE("shapes of networks with branches") {
  static_assert(
      std::is_same_v<decltype(nn::Concat<1, nn::Linear<2>, nn::Identity>{}.output(Shape<3>{})),
                     Shape<5>>);
  static_assert(
      std::is_same_v<decltype(nn::Concat<2, nn::Identity, nn::Identity>{}.output(Shape<3, 4>{})),
                     Shape<3, 8>>);
  static_assert(
      std::is_same_v<decltype(nn::Concat<1, nn::Linear<dyn>, nn::Identity>{}.output(Shape<3>{})),
                     Shape<dyn>>);
  static_assert(std::is_same_v<nn::Repeat<2, nn::ReLU>, nn::Sequential<nn::ReLU, nn::ReLU>>);
  static_assert(std::is_same_v<nn::Repeat<1, nn::ReLU, nn::Tanh>,
                               nn::Sequential<nn::Sequential<nn::ReLU, nn::Tanh>>>);
  CHECK(error_of([] { nn::Residual{nn::Linear{4}}.output(Shape<3>{}); }) ==
        "gpunet::nn::Residual: the layers make [4], the input is [3] (want the same shape: they "
        "are added), change "
        "the "
        "layers or the Projection");
  CHECK(error_of([] {
          nn::Parallel{nn::Linear{4}, nn::Linear{5}}.output(Shape<3>{});
        }) ==
        "gpunet::nn::Parallel: the branches make [4] and [5] (want the same shape: they are "
        "added), change one, or "
        "join "
        "them by Concat");
  CHECK(error_of([] {
          const nn::Concat<2, nn::Conv2d<dyn, dyn, nn::Stride<dyn>, nn::Padding<dyn>>, nn::Identity>
              joined{nn::Conv2d{3, 1}, nn::Identity{}};
          joined.output(Shape<2, 4, 4>{});
        }) ==
        "gpunet::nn::Concat: the branches make [3, 4, 4] and [2, 4, 4], joined along dimension 2 "
        "(want the other "
        "extents "
        "to be the same), change one");
}

TEST_CASE("networks with branches as text") {
  using Net = nn::Sequential<nn::Input<4>, nn::Residual<nn::Linear<4>, nn::ReLU>,
                             nn::Concat<1, nn::Linear<2>, nn::Sequential<nn::Identity>>>;
  CHECK(to_string(Net{}) ==
        "Sequential(\n"
        "  (0): Residual(\n"
        "    (0): Linear(in_features=4, out_features=4, bias=True)\n"
        "    (1): ReLU()\n"
        "    (add): Add()\n"
        "  )\n"
        "  (1): Concat(\n"
        "    (0): Linear(in_features=4, out_features=2, bias=True)\n"
        "    (1): Sequential(\n"
        "      (0): Identity()\n"
        "    )\n"
        "    (concat): Concat(dim=1)\n"
        "  )\n"
        ")");
  const Summary layers = summary(Net{});
  CHECK(layers.layers[2].inputs == std::vector<int>{1, -1});
  CHECK(layers.layers[5].inputs == std::vector<int>{3, 4});
  CHECK(contains(to_string(layers), "├─Residual (0): 1-1"));
}
