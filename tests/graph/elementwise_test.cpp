#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/graph/fuse.hpp>

#include "support/check_gradients.hpp"
#include "support/devices.hpp"
#include "support/eager_step.hpp"

using namespace gpunet;

namespace {

// y = x / (1 + exp(-x)).
struct Swish {
  template <class T>
  GPUNET_FN T value(T x) const {
    return x / (1 + std::exp(-x));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T y, T dy) const {
    const T sigmoid = 1 / (1 + std::exp(-x));
    return dy * (y + sigmoid * (1 - y));
  }
};

// y = factor x: what follows it must not become one multiply-add with it.
struct Scale {
  double factor = 1.1;
  template <class T>
  GPUNET_FN T value(T x) const {
    return static_cast<T>(factor) * x;
  }
  template <class T>
  GPUNET_FN T gradient(T, T, T dy) const {
    return static_cast<T>(factor) * dy;
  }
};

// y = x + 0.3
struct Shift {
  template <class T>
  GPUNET_FN T value(T x) const {
    return x + static_cast<T>(0.3);
  }
  template <class T>
  GPUNET_FN T gradient(T, T, T dy) const {
    return dy;
  }
};

// y = log x, which is infinite where padding is 0.
struct Log {
  template <class T>
  GPUNET_FN T value(T x) const {
    return std::log(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return dy / x;
  }
};

using Tail = nn::Sequential<nn::Input<9>, nn::Elementwise<Scale>, nn::Elementwise<Shift>,
                            nn::Elementwise<Swish>, nn::Tanh>;
using Net = nn::Sequential<nn::Input<9>, nn::Linear<33>, nn::ReLU, nn::Elementwise<Scale>,
                           nn::Elementwise<Shift>, nn::Elementwise<Swish>, nn::Linear<20>,
                           nn::Elementwise<Swish>, nn::Sigmoid, nn::Linear<3>>;

// A layer that hides the function of another one: it is lowered to the same node, and not merged.
template <class L>
struct Alone {
  L layer{};
  constexpr auto output(auto in) const { return in; }
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return nn::lower(builder, layer, x, in);
  }
};
template <class F>
using AloneF = Alone<nn::Elementwise<F>>;
using Separate =
    nn::Sequential<nn::Input<9>, nn::Linear<33>, Alone<nn::ReLU>, AloneF<Scale>, AloneF<Shift>,
                   AloneF<Swish>, nn::Linear<20>, AloneF<Swish>, Alone<nn::Sigmoid>, nn::Linear<3>>;

// The parameters after some steps, and the outputs.
template <class N, class T, class D>
std::vector<T> trained(D& device) {
  manual_seed(1);
  Model<N, D, T> net(device);
  optim::SGD optimizer(net, {.lr = 0.1});
  nn::CrossEntropyLoss criterion;
  train::Step step(net, criterion, optimizer);
  Generator generator(2);
  const TestBatch<T, D> data(device, net.network(), 37, generator);
  for (int i = 0; i < 3; ++i)
    step(data.inputs, data.labels);
  eager_step(net, criterion, optimizer, data);
  std::vector<T> all = parameters_of(net);
  const std::vector<T> outputs = net(data.inputs).to_vector();
  all.insert(all.end(), outputs.begin(), outputs.end());
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("merged element-wise layers compute bitwise what separate ones do", D,
                   GPUNET_TEST_DEVICES) {
  CHECK(
      same_bits(trained<Net, float>(test_device<D>()), trained<Separate, float>(test_device<D>())));
  CHECK(same_bits(trained<Net, double>(test_device<D>()),
                  trained<Separate, double>(test_device<D>())));
}

TEST_CASE_TEMPLATE("neighboring element-wise layers are one node where the device merges them", D,
                   GPUNET_TEST_DEVICES) {
  const bool merges = DeviceTraits<D>::merges_elementwise;
  const Graph tail = nn::lower<D, float>(Tail{}), fused = fuse(tail, fuse_policy<D, float>);
  CHECK(tail.nodes.size() == 4);
  CHECK(fused.nodes.size() == (merges ? 1 : 4));
  if (merges)
    CHECK(to_string(fused) ==
          "Sequential(\n"
          "  (0): Scale() -> Shift -> Swish -> Tanh\n"
          ")");
  const Graph net = fuse(nn::lower<D, float>(Net{}), fuse_policy<D, float>);
  CHECK(net.nodes.size() == (merges ? 5 : 8));
  if (merges)
    CHECK(to_string(net) ==
          "Sequential(\n"
          "  (0): Linear(in_features=9, out_features=33, bias=True) -> ReLU\n"
          "  (2): Scale() -> Shift -> Swish\n"
          "  (5): Linear(in_features=33, out_features=20, bias=True)\n"
          "  (6): Swish() -> Sigmoid\n"
          "  (8): Linear(in_features=20, out_features=3, bias=True)\n"
          ")");
}

// Else a unit that nvcc compiles would lower the network otherwise than a plain one.
TEST_CASE_TEMPLATE("gpunet's own functions are not merged with each other", D,
                   GPUNET_TEST_DEVICES) {
  using Own = nn::Sequential<nn::Input<9>, nn::Tanh, nn::Sigmoid, nn::Elementwise<Scale>,
                             nn::Sigmoid, nn::Tanh>;
  const Graph fused = fuse(nn::lower<D, float>(Own{}), fuse_policy<D, float>);
  CHECK(fused.nodes.size() == (DeviceTraits<D>::merges_elementwise ? 2 : 5));
}

TEST_CASE_TEMPLATE("gradients of compositions", D, GPUNET_TEST_DEVICES) {
  const Composition<Scale, Swish> two{Scale{0.7}, Swish{}};
  nn::check_layer_gradients(test_device<D>(), nn::Elementwise(two), Shape<7>{});
  const Composition<Composition<Scale, Swish>, Shift> three{two, Shift{}};
  nn::check_layer_gradients(test_device<D>(), nn::Elementwise(three), Shape<3, 2>{});
}

TEST_CASE("a value that others read is not merged away") {
  Lowering<Host, float> builder(Sizes{4});
  const auto swish = [&](value_t x) {
    return nn::lower(builder, nn::Elementwise<Swish>{}, x, Shape<4>{});
  };
  const value_t a = swish(GraphBuilder::input), b = swish(a);
  builder.offer_merged(&op_type<ElementwiseOp<Swish>>, ElementwiseOp<Composition<Swish, Swish>>{});
  const value_t sum = builder.add(AddOp{}, std::array{a, b}, Sizes{4});
  Graph graph = std::move(builder).finish(sum);
  CHECK(fuse(graph, {true, false, true}).nodes.size() == 3);
  graph.output = b;
  graph.nodes.pop_back();
  CHECK(fuse(graph, {true, false, true}).nodes.size() == 1);
  CHECK(fuse(graph, {true, false, false}).nodes.size() == 2);
}

TEST_CASE_TEMPLATE("functions without a value at 0 train batches of any size", D,
                   GPUNET_TEST_DEVICES) {
  using Small = nn::Sequential<nn::Input<2>, nn::Elementwise<Log>, nn::Linear<3>>;
  D& device = test_device<D>();
  // The loss of the fourth step on a batch of equal samples, which does not depend on their number.
  const auto loss = [&](index_t batch) {
    manual_seed(0);
    Model<Small, D> net(device);
    optim::SGD optimizer(net, {.lr = 0.1f});
    const auto n = static_cast<std::size_t>(batch);
    const Tensor<float, D> inputs(device, {batch, 2}, std::vector<float>(2 * n, 2.0f));
    const Tensor<label_t, D> labels(device, {batch}, std::vector<label_t>(n, 1));
    train::Step step(net, nn::CrossEntropyLoss(), optimizer);
    for (int i = 0; i < 3; ++i)
      step(inputs, labels);
    return step(inputs, labels).item();
  };
  const float alone = loss(1);
  for (const index_t batch : {3, 4, 5, 15, 16, 17}) {
    CAPTURE(batch);
    CHECK(loss(batch) == doctest::Approx(alone).epsilon(1e-5));
  }
}
