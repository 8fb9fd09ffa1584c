#include <cstdint>
#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/networks.hpp>
#include <gpunet/onnx.hpp>

#include "io/temp_folder.hpp"
#include "support/devices.hpp"

using namespace gpunet;
using nn::Value;

namespace {

// Numbers from -1 to 1.
std::vector<float> numbers(index_t count) {
  std::vector<float> result;
  std::uint32_t state = 1;
  for (index_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    result.push_back(static_cast<float>(state >> 8) / (1 << 23) - 1);
  }
  return result;
}

// Writes the network, reads it, and compares the outputs of both for a batch.
template <class D>
void check_round_trip(Network<D, float>& net, index_t batch, double bound = 0,
                      const onnx::WriteOptions& options = {}) {
  TempFolder folder;
  onnx::write(net, folder / "net.onnx", options);
  const onnx::Model model = onnx::read(folder / "net.onnx");
  CHECK(model.opset() == options.opset);
  CHECK(model.producer_name() == "gpunet");
  Network again(net.device(), model);
  net.eval();
  again.eval();
  const Sizes sizes = net.graph().values[0].with_front(batch);
  const Tensor<float, D> x(net.device(), sizes, numbers(sizes.numel()));
  const std::vector<float> a = net(x).to_vector(), b = again(x).to_vector();
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double error = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(error <= worst)) worst = error;
  }
  CHECK(worst <= bound);
  // Parameters have their names and shapes, unless they are in other places.
  for (const ParameterInfo& parameter : net.named_parameters()) {
    INFO(parameter.name);
    const auto& others = model.initializers();
    const auto found = std::find_if(others.begin(), others.end(), [&](const io::TensorEntry& t) {
      return t.name == parameter.name;
    });
    REQUIRE(found != others.end());
    CHECK(found->sizes == parameter.sizes);
  }
}

void check_function(const std::function<Value(const Value&)>& f, const Sizes& sizes,
                    double bound = 0, const onnx::WriteOptions& options = {}) {
  Generator generator(3);
  Network net(test_device<Host>(), f, sizes, {generator});
  check_round_trip(net, 5, bound, options);
}

}  // namespace

TEST_CASE_TEMPLATE("a network of layers is read as it was written", D, GPUNET_TEST_DEVICES) {
  using nn::Padding, nn::Stride;
  using Net = nn::Sequential<
      nn::Input<3, 12, 10>, nn::Named<"conv1", nn::Conv2d<6, 3, Padding<1>>>, nn::ReLU,
      nn::MaxPool2d<2>, nn::Conv2d<6, 3, nn::Groups<3>, Stride<2>, nn::Dilation<2>, Padding<2, 3>>,
      nn::BatchNorm2d, nn::LeakyReLU, nn::ConvTranspose2d<4, 3, Stride<2>, nn::OutputPadding<1>>,
      nn::AvgPool2d<2>, nn::Flatten, nn::Linear<20>, nn::Dropout, nn::Tanh, nn::Linear<5>,
      nn::Softmax>;
  Model<Net, D> net(test_device<D>());
  // Statistics that are not 0 and 1.
  const Tensor<float, D> x(net.device(), {4, 3, 12, 10}, numbers(4 * 360));
  net.train();
  static_cast<void>(net(x).to_vector());
  for (const index_t batch : {1, 3, 17})
    check_round_trip(net, batch);
  check_round_trip(net, 2, 0, {.opset = 18});
  check_round_trip(net, 2, 0, {.opset = 22});
}

TEST_CASE("functions of elements are written, by several operators where ONNX has none") {
  using Function = std::function<Value(const Value&)>;
  const std::vector<Function> same{
      [](const Value& x) { return relu(x); },
      [](const Value& x) { return relu6(3 * x); },
      [](const Value& x) { return hardtanh(x, -0.5, 0.25); },
      [](const Value& x) { return leaky_relu(x, 0.3); },
      [](const Value& x) { return elu(x, 0.7); },
      [](const Value& x) { return selu(x); },
      [](const Value& x) { return tanh(x); },
      [](const Value& x) { return sigmoid(x); },
      [](const Value& x) { return hardswish(4 * x); },
      [](const Value& x) { return hardsigmoid(4 * x); },
      [](const Value& x) { return softplus(x); },
      [](const Value& x) { return softsign(x); },
      [](const Value& x) { return exp(x) + erf(x) - sin(x) * cos(x); },
      [](const Value& x) { return sqrt(abs(x) + 1) / (2 - x); },
      [](const Value& x) { return log(square(x) + 0.5); },
      [](const Value& x) { return pow(abs(x), 1.5) + reciprocal(x + 3); },
      [](const Value& x) { return clamp(x, 0.1, std::numeric_limits<double>::infinity()); },
      [](const Value& x) { return floor(9 * x) + ceil(9 * x) - round(9 * x) + sign(x); },
      [](const Value& x) { return detach(dropout(x)) + x; },
      [](const Value& x) { return maximum(x, -x) - minimum(x, x * x); },
      [](const Value& x) {
        return 3 / (x + 2);
      }};
  for (std::size_t i = 0; i < same.size(); ++i) {
    INFO("function ", i);
    check_function(same[i], {2, 7}, 1e-6);
  }
  const std::vector<Function> near{[](const Value& x) { return gelu(x); },
                                   [](const Value& x) { return gelu(x, nn::Approximate::tanh); },
                                   [](const Value& x) { return silu(x); },
                                   [](const Value& x) { return mish(x); },
                                   [](const Value& x) { return logsigmoid(x); },
                                   [](const Value& x) {
                                     return softplus(x, 2);
                                   }};
  for (const index_t opset : {17, 20})
    for (const Function& f : near)
      check_function(f, {11}, 1e-6, {.opset = opset});
}

TEST_CASE("shapes, sums and arithmetic are written") {
  check_function([](const Value& x) { return permute(x, {0, 3, 1, 2}); }, {2, 3, 4});
  check_function([](const Value& x) { return reshape(transpose(x, 1, 2), {4, 6}); }, {2, 3, 4});
  check_function(
      [](const Value& x) {
        return nn::cat({x, 2 * x, narrow(x, 2, 1, 2)}, 2);
      },
      {2, 3, 4});
  check_function([](const Value& x) { return sum(x, {1, 3}) + mean(x, {1, 3}); }, {2, 3, 4}, 1e-6);
  check_function([](const Value& x) { return mean(x) + sum(x); }, {2, 3}, 1e-6, {.opset = 18});
  check_function([](const Value& x) { return softmax(x, 2) + log_softmax(x, -1); }, {2, 3, 4});
  check_function([](const Value& x) { return x + mean(x, 1); }, {2, 3}, 1e-6);
  check_function(
      [](const Value& x) {
        return x * nn::parameter(x, nn::uniform("gain", {3, 1}, 1)) -
               nn::parameter(x, nn::uniform("shift", {4}, 1));
      },
      {2, 3, 4});
  Host& host = test_device<Host>();
  const Tensor<float, Host> table(host, {3}, {1, -2, 3});
  check_function([&](const Value& x) { return x * table + 1; }, {2, 3});
}

TEST_CASE("layers with weights are written") {
  check_function([](const Value& x) { return linear(x, 5); }, {4, 3}, 1e-6);
  check_function([](const Value& x) { return linear(x, 5, {.bias = false}); }, {3});
  check_function([](const Value& x) { return layer_norm(x, {}, "norm"); }, {4, 6});
  check_function([](const Value& x) { return group_norm(x, 2); }, {4, 6}, 1e-5);
  check_function([](const Value& x) { return group_norm(x, 4); }, {4, 6});
  check_function([](const Value& x) { return conv2d(x, 4, 3, {.stride = 2, .padding = 1}); },
                 {3, 8, 9});
  check_function([](const Value& x) { return max_pool2d(x, 3, {.stride = 2, .ceil_mode = true}); },
                 {2, 6, 8});
  check_function([](const Value& x) { return adaptive_avg_pool2d(x, 1, 1); }, {2, 6, 8});
  check_function([](const Value& x) { return adaptive_avg_pool2d(x, 3, 2); }, {2, 6, 8});
  check_function([](const Value& x) { return nn::apply<2>(nn::Upsample<3>{}, x); }, {2, 4});
  check_function([](const Value& x) { return nn::apply<3>(nn::Upsample<3>{}, x); }, {2, 3, 4});
  check_function([](const Value& x) { return nn::apply<4>(nn::Upsample<2>{}, x); }, {2, 3, 1, 4});
  check_function([](const Value& x) { return nn::apply<3>(nn::PixelShuffle<2>{}, x); }, {8, 3, 4});
  check_function([](const Value& x) { return nn::apply<3>(nn::ZeroPad2d<1, 2, 0, 3>{}, x); },
                 {2, 3, 4});
  check_function([](const Value& x) { return nn::apply<3>(nn::PReLU<4>{}, x); }, {4, 3, 4});
  check_function([](const Value& x) { return embedding(floor(abs(4 * x)), 5, 3, "words"); }, {6});
}

TEST_CASE("windows of poolings and paddings are written") {
  // Windows of {outputs, kernel, stride, padding} along rows and columns of 5 x 4.
  const auto largest = [](const Pool2dGeometry& g) {
    check_function(
        [g](const Value& x) {
          return nn::detail::add_node<MaxPool2dOp>("pool", MaxPool2dOp{g}, x,
                                                   Sizes{2, g.out_height, g.out_width});
        },
        {2, 5, 4});
  };
  largest({2, 5, 4, 5, 4, 2, 1, 0});  // padding behind both
  largest({2, 5, 4, 3, 2, 2, 2, 0});  // behind the rows, or ceil_mode
  largest({2, 5, 4, 2, 2, 2, 2, 0});
  largest({2, 5, 4, 2, 3, 3, 2, 0, 2, 1, 0});  // behind none
  largest({2, 5, 4, 5, 3, 3, 1, 1, 2, 1, 0});
  largest({2, 5, 4, 5, 4, 2, 1, 0, 2, 1, 0});
  using nn::CeilMode, nn::CountIncludePad, nn::Padding, nn::Stride;
  check_function(
      [](const Value& x) {
        return nn::apply<3>(nn::AvgPool2d<2, Padding<1>, CeilMode<true>>{}, x);
      },
      {2, 5, 4}, 1e-6);
  check_function(
      [](const Value& x) {
        return nn::apply<3>(
            nn::AvgPool2d<3, Stride<2>, Padding<1>, CeilMode<true>, CountIncludePad<false>>{}, x);
      },
      {2, 6, 4}, 1e-6);
  for (const char* mode : {"constant", "reflect", "replicate", "circular"})
    check_function(
        [mode](const Value& x) {
          return pad(x, {1, 2, 0, 3}, mode);
        },
        {2, 5, 4}, 0, {.opset = 19});
  check_function([](const Value& x) { return pad(x, {1, -1}, "constant", 0.5); }, {2, 5, 4});
}

TEST_CASE("the network of a ResNet block is read as it was written") {
  using nn::Padding, nn::Stride;
  using Net = nn::Sequential<
      nn::Input<4, 9, 9>,
      nn::Residual<nn::Conv2d<4, 3, Padding<1>, nn::Bias<false>>, nn::BatchNorm2d, nn::ReLU,
                   nn::Conv2d<4, 3, Padding<1>, nn::Bias<false>>, nn::BatchNorm2d>,
      nn::ReLU, nn::AdaptiveAvgPool2d<1, 1>, nn::Flatten, nn::Linear<3>>;
  Model<Net, Host> net(test_device<Host>());
  check_round_trip(net, 3);
}

TEST_CASE_TEMPLATE("recurrent layers are read as they were written", D, GPUNET_TEST_DEVICES) {
  using nn::Bias, nn::Bidirectional, nn::LastState, nn::NumLayers;
  const auto check = [](auto layer, index_t steps) {
    D& device = test_device<D>();
    Network net(device, [&](const Value& x) { return nn::apply<2>(layer, x, "rnn"); }, {steps, 4});
    check_round_trip(net, 3);
  };
  check(nn::LSTM<3>(), 5);
  check(nn::LSTM<3, NumLayers<2>, Bidirectional>{{.dropout = 0.2}}, 4);
  check(nn::LSTM<2, NumLayers<3>, Bidirectional, LastState, Bias<false>>(), 6);
  check(nn::GRU<5, NumLayers<2>>(), 1);
  check(nn::GRU<3, Bidirectional, LastState>(), 3);
  check(nn::RNN<3, Bias<false>>(), 7);
  check(nn::RNN<4, nn::ReLU, NumLayers<2>, Bidirectional, LastState>(), 5);
}

TEST_CASE("functions of recurrent layers are written with their states") {
  const auto states = [](const nn::LSTMOutput& of) {
    return nn::cat({flatten(of.output), flatten(of.h_n), flatten(of.c_n)}, 1);
  };
  check_function([&](const Value& x) { return states(lstm(x, 3, {.num_layers = 2})); }, {5, 4});
  check_function(
      [&](const Value& x) {
        const auto first = lstm(x, 3, {.num_layers = 2, .bidirectional = true, .name = "encoder"});
        return states(lstm(2 * x, 3,
                           {.num_layers = 2,
                            .bidirectional = true,
                            .h_0 = first.h_n,
                            .c_0 = first.c_n,
                            .name = "decoder"}));
      },
      {5, 4});
  check_function(
      [](const Value& x) {
        const Value h = gru(x, 4, {.bias = false}).h_n;
        return rnn(x, 4, {.nonlinearity = "relu", .h_0 = h, .name = "rnn"}).output *
               mean(h, 1, true);
      },
      {3, 2});
  check_function([](const Value& x) { return narrow(gru(x, 4).h_n, 1, 0, 1); }, {3, 2});
  check_function([](const Value& x) { return nn::apply<2>(nn::LastStep(), gru(x, 4).output); },
                 {3, 2});
  Network net(test_device<Host>(),
              [](const Value& x, const Value& h) {
                const auto [y, last] = gru(x, 4, {.h_0 = h, .name = "rnn"});
                return std::vector<Value>{y, last};
              },
              {5, 3}, {1, 4});
  check_round_trip(net, 3);
}

TEST_CASE("several inputs and outputs have names") {
  Host& host = test_device<Host>();
  Network net(host,
              [](const Value& a, const Value& b) {
                return std::vector<Value>{linear(nn::cat({a, b}, 1), 4, {.name = "fc"}), tanh(b)};
              },
              {2}, {3});
  TempFolder folder;
  onnx::write(net, folder / "net.onnx",
              {.output_names = {"logits", "code"}, .metadata = {{"a", "b"}}});
  const onnx::Model model = onnx::read(folder / "net.onnx");
  CHECK(model.metadata() == io::Metadata{{"a", "b"}});
  REQUIRE(model.inputs().size() == 2);
  CHECK(model.inputs()[0].name == "input_0");
  CHECK(model.inputs()[1].dims.size() == 2);
  CHECK(model.outputs()[1].name == "code");
  check_round_trip(net, 3);
}

TEST_CASE("a network of double is written in double") {
  Host& host = test_device<Host>();
  Network<Host, double> net(host, [](const Value& x) { return tanh(linear(x, 3)); }, {4});
  TempFolder folder;
  onnx::write(net, folder / "net.onnx");
  Network<Host, double> again(host, onnx::read(folder / "net.onnx"));
  const Tensor<double, Host> x(host, {1, 4}, {1, 0.5, -2, 0.1});
  CHECK(net(x).to_vector() == again(x).to_vector());
}

TEST_CASE("what cannot be written is an Error") {
  Host& host = test_device<Host>();
  TempFolder folder;
  const auto error = [&](const auto& f, const onnx::WriteOptions& options = {}) {
    Network net(host, f, {4, 3});
    return error_of([&] { onnx::write(net, folder / "net.onnx", options); });
  };
  const auto same = [](const Value& x) {
    return tanh(x);
  };
  CHECK(
      contains(error([](const Value& x) { return scaled_dot_product_attention(x, x, x); }),
               "ScaledDotProductAttention: gpunet does not write this layer (docs/onnx.md has the "
               "list)"));
  CHECK(contains(error([](const Value& x) {
                   return adaptive_avg_pool2d(reshape(x, {1, 4, 3}), 3, 2);
                 }),
                 "adaptive windows of different sizes"));
  CHECK(contains(error([](const Value& x) { return nn::parameter(x, nn::constant("p", {2}, 1)); }),
                 "an output that is a parameter or constant"));
  CHECK(contains(error(same, {.opset = 16}), "opset 16 (want 17 to 22)"));
  CHECK(contains(error(same, {.input_names = {"a", "b"}}), "2 names for 1 inputs"));
  CHECK(contains(error(same, {.input_names = {"a"}, .output_names = {"a"}}),
                 "the name \"a\" of an input or output"));
  CHECK(folder.count() == 0);
  Network net(host, same, {3});
  CHECK(contains(error_of([&] { onnx::write(net, folder / "none/net.onnx"); }), "cannot write"));
}
