#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/model/fold_batch_norm.hpp>
#include <gpunet/ops/batch_norm/batch_norm.hpp>
#include <gpunet/tensor/create.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using nn::Value;

namespace {

// A network drawn by a seed: convolutions of all forms, with and without bias, normalization, sum
// with the value before, and each activation; linear layers behind them.
struct RandomNetwork {
  int seed;
  index_t channels;  // of most layers

  Value operator()(Value x) const {
    Generator generator(seed);
    const auto draw = [&](std::uint32_t n) {
      return static_cast<index_t>(generator.random() % n);
    };
    for (int stage = 0; stage < 4; ++stage) {
      const index_t kernel = 1 + 2 * draw(3), dilation = 1 + draw(2);
      const index_t groups = x.size(1) != channels ? 1
                                                   : std::array{index_t{1}, index_t{2},
                                                                channels}[std::size_t(draw(3))];
      const bool bias = draw(2) == 0, sums = draw(3) == 0, normalizes = draw(4) > 0;
      Value y = conv2d(x, channels, kernel,
                       {.stride = stage == 1 ? 1 + draw(2) : 1,
                        .padding = kernel / 2 * dilation,
                        .dilation = dilation,
                        .groups = groups,
                        .bias = bias});
      const Value before = y;
      if (normalizes) y = nn::batch_norm(y, {.eps = stage == 0 ? 1e-3 : 1e-5});
      if (sums) y = y + before;  // whose normalization is not folded
      x = activation(stage + seed, y);
    }
    Value y = nn::relu(nn::batch_norm(nn::linear(nn::flatten(x), 9)));
    y = nn::batch_norm(nn::linear(y, 8, {.bias = false}));
    return nn::linear(nn::batch_norm(nn::linear(nn::tanh(y), 7)), 5);
  }

  static Value activation(int number, const Value& x) {
    switch (number % 8) {
      case 0:
        return nn::relu(x);
      case 1:
        return nn::relu6(x);
      case 2:
        return nn::hardtanh(x, -0.5, 0.75);
      case 3:
        return nn::max_pool2d(nn::relu(x), 2);
      case 4:
        return nn::leaky_relu(x);
      case 5:
        return nn::gelu(x);
      case 6:
        return nn::sigmoid(x);
      default:
        return x;
    }
  }
};

// Sets weights, biases and running statistics to numbers that differ from channel to channel.
template <class T>
void draw_state(Network<Host, T>& net, int seed) {
  Generator generator(seed);
  const auto set = [&](const auto& infos, T* all) {
    for (const auto& info : infos) {
      const bool is_positive = info.name.ends_with("running_var") ||
                               (info.sizes.rank() == 1 && info.name.ends_with("weight"));
      if constexpr (requires { info.kind; })
        if (info.kind == BufferKind::count) continue;
      if (info.sizes.rank() > 1) continue;
      for (index_t i = 0; i < info.sizes.numel(); ++i)
        all[info.offset + i] = static_cast<T>(is_positive ? generator.uniform(0.4, 1.6)
                                                          : generator.uniform(-0.4, 0.4));
    }
  };
  set(net.named_parameters(), net.parameters().data());
  set(net.named_buffers(), net.buffers().data());
}

template <class D, class T>
Tensor<T, D> images(D& device, index_t batch, const Sizes& sizes) {
  Generator generator(batch);
  return {device, sizes.with_front(batch), random_values<T>(batch * sizes.numel(), generator)};
}

// Returns the largest difference, in terms of the largest number.
template <class T>
double difference(const std::vector<T>& a, const std::vector<T>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
    if (!std::isfinite(a[i])) most = INFINITY;
  }
  return most / largest;
}

template <class Op>
index_t count(const Graph& graph) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                       [](const Node& node) { return node.as<Op>() != nullptr; });
}

// Compares a folded network with the same one in evaluation mode.
template <class D, class T, class F>
void check_outputs(const F& f, const Sizes& sizes, int seed, std::vector<index_t> batches) {
  CAPTURE(seed);
  manual_seed(seed);
  Network<Host, T> drawn(test_device<Host>(), f, sizes);
  draw_state(drawn, seed);
  Network<D, T> net(test_device<D>(), f, sizes);
  net.copy_state(drawn);
  net.eval();
  Predictor<D, T> folded(net, {.fold_batch_norm = true});
  for (const index_t batch : batches) {
    CAPTURE(batch);
    const Tensor<T, D> x = images<D, T>(test_device<D>(), batch, sizes);
    const std::vector<T> outputs = folded(x).to_vector();
    CHECK(difference(outputs, net(x).to_vector()) < (std::is_same_v<T, float> ? 1e-6 : 1e-12));
    if constexpr (DeviceTraits<D>::has_host_memory) {
      Host alone({.threads = 1});
      CHECK(same_bits(Predictor<D, T>(alone, net, {.fold_batch_norm = true})(x).to_vector(),
                      outputs));
    }
  }
}

template <class D>
std::vector<index_t> some_batches(int seed) {
  if (!DeviceTraits<D>::has_host_memory) return {1 + seed % 3};  // which may be a simulator
  return {1, 2 + seed % 10, 16 + seed % 18};
}

// Layers of all kinds, each with a normalization that is folded.
Value all_layers(Value x) {
  using namespace nn;
  x = relu(batch_norm(apply<2>(Conv1d<6, 3, Dilation<2>, Groups<3>>{}, x)));
  x = relu6(batch_norm(apply<2>(ConvTranspose1d<8, 3, Stride<2>, Groups<2>, Bias<false>>{}, x)));
  x = reshape(x, {x.size(1) / 4, 2, 2, x.size(2)});
  x = relu(batch_norm(apply<4>(Conv3d<6, 2, Padding<1>, Groups<2>, Bias<false>>{}, x)));
  x = silu(batch_norm(apply<4>(ConvTranspose3d<4, 2, Padding<1>, Groups<2>>{}, x)));
  x = reshape(x, {x.size(1), x.size(2) * x.size(3), x.size(4)});
  x = tanh(batch_norm(apply<3>(ConvTranspose2d<6, 3, Padding<1>, Groups<2>>{}, x)));
  x = hardtanh(batch_norm(apply<3>(Conv2d<4, 2, KernelWidth<5>, Stride<1, 2>>{}, x)));
  return linear(batch_norm(linear(flatten(x), 6)), 3);
}

}  // namespace

TEST_CASE_TEMPLATE("folded networks of float compute the outputs of evaluation mode", D,
                   GPUNET_TEST_DEVICES) {
  const int seeds = DeviceTraits<D>::has_host_memory ? 24 : 2;
  for (int seed = 0; seed < seeds; ++seed) {
    const index_t channels = DeviceTraits<D>::has_host_memory && seed % 2 ? 32 : 4;
    const index_t side = 6 + seed % 5;
    check_outputs<D, float>(RandomNetwork{seed, channels}, {3, side + 1, side}, seed,
                            some_batches<D>(seed));
  }
}

TEST_CASE_TEMPLATE("folded networks of double compute the outputs of evaluation mode", D,
                   GPUNET_TEST_DEVICES) {
  const int seeds = DeviceTraits<D>::has_host_memory ? 8 : 1;
  for (int seed = 0; seed < seeds; ++seed)
    check_outputs<D, double>(RandomNetwork{seed, 4}, {2, 7, 6}, seed, some_batches<D>(seed));
}

TEST_CASE_TEMPLATE("all kinds of convolution, and linear layers", D, GPUNET_TEST_DEVICES) {
  check_outputs<D, float>(all_layers, {3, 12}, 1, some_batches<D>(1));
  check_outputs<D, double>(all_layers, {3, 12}, 2, some_batches<D>(2));
  Network<D, float> net(test_device<D>(), all_layers, {3, 12});
  const Predictor<D, float> plain(net), folded(net, {.fold_batch_norm = true});
  CHECK(count<BatchNormOp>(plain.fused_graph()) == 7);
  CHECK(count<BatchNormOp>(folded.fused_graph()) == 0);
}

TEST_CASE_TEMPLATE("without folding, clamps are part of convolutions with the same bits", D,
                   GPUNET_TEST_DEVICES) {
  const auto clamped = [](Value x) {
    x = nn::relu6(nn::conv2d(x, 16, 3, {.padding = 1}));
    x = nn::hardtanh(nn::conv2d(x, 16, 3, {.groups = 2, .bias = false}), -0.25, 0.5);
    x = nn::relu(nn::conv2d(x, 16, 3, {.padding = 1, .groups = 16}));
    x = nn::hardtanh(nn::conv2d(x, 16, 1, {.bias = false}), -0.125, 0.125);
    return nn::relu6(nn::conv2d(x, 3, 2));
  };
  const auto check = [&]<class T>(T) {
    D& device = test_device<D>();
    Network<D, T> net(device, clamped, {3, 7, 8});
    net.eval();
    Predictor<D, T> predict(net);
    CHECK(predict.fused_graph().nodes.size() == 5);
    for (const index_t batch : {1, 3}) {
      const Tensor<T, D> x = images<D, T>(device, batch, {3, 7, 8});
      CHECK(same_bits(predict(x).to_vector(), net(x).to_vector()));
    }
  };
  check(float{}), check(double{});
}

TEST_CASE("a block costs its convolutions alone") {
  Host& host = test_device<Host>();
  const auto block = [](Value x) {
    Value y = nn::relu6(nn::batch_norm(nn::conv2d(x, 8, 1, {.bias = false})));
    y = nn::relu(nn::batch_norm(nn::conv2d(y, 8, 3, {.padding = 1, .groups = 8, .bias = false})));
    return nn::relu(nn::batch_norm(nn::conv2d(y, 4, 1, {.bias = false})) + x);
  };
  Network net(host, block, {4, 5, 6});
  const Predictor folded(net, {.fold_batch_norm = true});
  CHECK(to_string(folded.fused_graph()) ==
        "Sequential(\n"
        "  (0): Conv2d(4, 8, kernel_size=(1, 1), stride=(1, 1)) -> BatchNorm2d -> ReLU6\n"
        "  (2): Conv2d(8, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), groups=8) -> "
        "BatchNorm2d -> ReLU\n"
        "  (4): Conv2d(8, 4, kernel_size=(1, 1), stride=(1, 1)) -> BatchNorm2d\n"
        "  (add): Add() -> ReLU\n"
        ")");
}

TEST_CASE("folding takes less workspace") {
  Host& host = test_device<Host>();
  const auto stem = [](Value x) {
    return nn::max_pool2d(nn::relu(nn::batch_norm(nn::conv2d(x, 8, 3))), 2);
  };
  Network net(host, stem, {2, 18, 18});
  Predictor plain(net), folded(net, {.fold_batch_norm = true});
  CHECK(folded.fused_graph().nodes.size() == 1);
  const Tensor<float, Host> x = images<Host, float>(host, 1, {2, 18, 18});
  plain(x), folded(x);
  CHECK(folded.workspace_bytes() < plain.workspace_bytes());
}

TEST_CASE("normalizations that stay") {
  Host& host = test_device<Host>();
  const auto stay = [](Value x) {
    x = nn::batch_norm(x);                              // of an input
    x = nn::batch_norm(nn::relu(nn::conv2d(x, 4, 3)));  // of an activation
    const Value y = nn::conv2d(x, 4, 1), z = nn::batch_norm(y);
    x = z + y;                                                // two readers
    x = nn::batch_norm(nn::batch_norm(nn::conv2d(x, 4, 1)));  // the second
    x = nn::reshape(x, {x.size(1), x.size(2) * x.size(3)});
    return nn::batch_norm(nn::linear(x, 4));  // of rows
  };
  Network net(host, stay, {2, 5, 6});
  const Predictor folded(net, {.fold_batch_norm = true});
  CHECK(count<BatchNormOp>(folded.fused_graph()) == 5);
  check_outputs<Host, float>(stay, {2, 5, 6}, 3, {1, 5, 16});
}

TEST_CASE("layers that share parameters have copies of their own") {
  const auto siamese = [](Value x) {
    const auto convolution = [](Value of) {
      return nn::conv2d(of, 4, 3, {.padding = 1});
    };
    const auto layer = [&](Value of) {
      return nn::shared("both", convolution, of);
    };
    const Value y = nn::relu(nn::batch_norm(layer(x), {}, "one"));
    const Value z = nn::relu(nn::batch_norm(layer(y), {}, "two"));
    return layer(z);
  };
  check_outputs<Host, float>(siamese, {4, 6, 5}, 4, {1, 3, 20});
  Network net(test_device<Host>(), siamese, {4, 6, 5});
  const Predictor folded(net, {.fold_batch_norm = true});
  CHECK(folded.fused_graph().parameters.size() == 6);
  CHECK(count<BatchNormOp>(folded.fused_graph()) == 0);
}

TEST_CASE_TEMPLATE("a folded predictor has parameters of its own", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(5);
  std::optional<Network<D, float>> net(std::in_place, device, RandomNetwork{1, 4}, Sizes{2, 6, 5});
  Predictor<D, float> folded(*net, {.fold_batch_norm = true});
  CHECK(folded.parameter_bytes() < Predictor<D, float>(*net).parameter_bytes());
  const Tensor<float, D> x = images<D, float>(device, 2, {2, 6, 5});
  const std::vector<float> before = folded(x).to_vector();
  optim::SGD optimizer(*net, {.lr = 0.1});
  mean((*net)(x)).backward();
  optimizer.step();
  CHECK(same_bits(folded(x).to_vector(), before));
  net->eval();
  CHECK(difference(before, (*net)(x).to_vector()) > 1e-4);
  CHECK(difference(Predictor<D, float>(*net, {.fold_batch_norm = true})(x).to_vector(),
                   (*net)(x).to_vector()) < 1e-6);
  net.reset();
  CHECK(same_bits(folded(x).to_vector(), before));
}

TEST_CASE_TEMPLATE("with 16 bits, weights are rounded after folding", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Network<Host, float> drawn(test_device<Host>(), RandomNetwork{1, 4}, {2, 6, 5});
  draw_state(drawn, 6);
  Network<D, float> net(device, RandomNetwork{1, 4}, {2, 6, 5});
  net.copy_state(drawn);
  net.eval();
  const Tensor<float, D> x = images<D, float>(device, 3, {2, 6, 5});
  const std::vector<float> exact = net(x).to_vector();
  Predictor<D, float> full(net, {.fold_batch_norm = true});
  for (const Storage storage : {Storage::bfloat16, Storage::float16}) {
    Predictor<D, float> narrow(net, {.storage = storage, .fold_batch_norm = true});
    CHECK(narrow.parameter_bytes() == full.parameter_bytes() / 2);
    const double error = difference(narrow(x).to_vector(), exact);
    CHECK(error > 0);
    CHECK(error < (storage == Storage::bfloat16 ? 2e-2 : 2e-3));
  }
}

TEST_CASE_TEMPLATE("published weights are folded by publish()", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Network<Host, float> other(test_device<Host>(), RandomNetwork{1, 4}, {2, 6, 5});
  Network<D, float> net(device, RandomNetwork{1, 4}, {2, 6, 5});
  const Tensor<float, D> x = images<D, float>(device, 3, {2, 6, 5});
  for (const Storage storage : {Storage::full, Storage::bfloat16}) {
    const PredictorOptions options{.storage = storage, .fold_batch_norm = true};
    draw_state(other, 7);
    net.copy_state(other);
    PublishedWeights<D, float> weights(net, options);
    Predictor<D, float> predict(weights);
    CHECK(count<BatchNormOp>(predict.fused_graph()) ==
          count<BatchNormOp>(Predictor<D, float>(net, options).fused_graph()));
    CHECK(same_bits(predict(x).to_vector(), Predictor<D, float>(net, options)(x).to_vector()));
    draw_state(other, 8);
    weights.publish(other);
    const std::vector<float> published = predict(x).to_vector();
    net.copy_state(other);
    CHECK(same_bits(published, Predictor<D, float>(net, options)(x).to_vector()));
  }
}

TEST_CASE("several inputs and outputs, and hooks, which do not stop folding") {
  Host& host = test_device<Host>();
  Network net(host,
              [](Value a, Value b) {
                const Value y = nn::named(
                    "sum", [](Value x, Value z) { return nn::linear(x, 6) + nn::linear(z, 6); }, a,
                    b);
                const auto layer = [](Value x) {
                  return nn::linear(x, 4);
                };
                return std::array{nn::relu(nn::batch_norm(nn::named("watched", layer, y))),
                                  nn::batch_norm(nn::linear(y, 3))};
              },
              {4}, {5});
  draw_state(net, 9);
  int calls = 0;
  net.register_forward_hook("watched", [&](const auto&) { ++calls; });
  Predictor folded(net, {.fold_batch_norm = true});
  CHECK(count<BatchNormOp>(folded.fused_graph()) == 0);
  Generator generator(1);
  const Tensor<float, Host> a(host, {5, 4}, random_values<float>(20, generator)),
      b(host, {5, 5}, random_values<float>(25, generator));
  net.eval();
  const auto y = net(a, b);
  CHECK(calls == 1);
  CHECK(difference(folded({a, b}).to_vector(), y.to_vector()) < 1e-6);
  CHECK(calls == 1);
}

TEST_CASE("a network without batch normalization is copied") {
  Host& host = test_device<Host>();
  Network net(host, [](Value x) { return nn::linear(nn::relu(nn::linear(x, 3)), 2); }, {4});
  Predictor plain(net), folded(net, {.fold_batch_norm = true});
  const Tensor<float, Host> x = images<Host, float>(host, 3, {4});
  const std::vector<float> before = plain(x).to_vector();
  CHECK(same_bits(folded(x).to_vector(), before));
  fill(host, net.parameters().numel(), 0.0f, net.parameters().data());
  CHECK(same_bits(folded(x).to_vector(), before));
}
