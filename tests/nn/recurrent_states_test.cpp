// Initial and final states of recurrent layers, as functions of values: the cases of
// reference/recurrent_states.py.
#include <string>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/nn/gradient_check.hpp>

#include "support/arrays.hpp"
#include "support/check_gradients.hpp"
#include "support/errors.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;
using nn::Value;

namespace {

constexpr index_t batch = 3;

struct Case {
  index_t steps, features, hidden;
  int num_layers;
  bool bidirectional, bias, is_initial;
};
const std::vector<Case> cases{{4, 3, 2, 1, false, true, true},  {3, 2, 3, 2, true, true, true},
                              {1, 1, 2, 3, false, false, true}, {5, 2, 1, 1, true, false, true},
                              {2, 3, 9, 1, false, true, true},  {3, 2, 2, 2, true, true, false}};

// Returns the graph of a layer with its initial states as further inputs and its final states as
// further outputs.
template <class D, class T>
Graph graph_of(const std::string& kind, const Case& of) {
  const Sizes state{of.num_layers * (of.bidirectional ? 2 : 1), of.hidden};
  std::vector<Sizes> inputs{{of.steps, of.features}};
  if (of.is_initial) inputs.insert(inputs.end(), kind == "lstm" ? 2 : 1, state);
  const auto function = [&](const std::vector<Value>& x) -> std::vector<Value> {
    const auto with_state = [&](auto options) {
      options.num_layers = of.num_layers, options.bidirectional = of.bidirectional,
      options.bias = of.bias;
      if (of.is_initial) options.h_0 = x[1];
      return options;
    };
    if (kind == "lstm") {
      nn::LSTMOptions options = with_state(nn::LSTMOptions{});
      if (of.is_initial) options.c_0 = x[2];
      const auto [output, h_n, c_n] = lstm(x[0], of.hidden, options);
      return {output, h_n, c_n};
    }
    if (kind == "gru") {
      const auto [output, h_n] = gru(x[0], of.hidden, with_state(nn::GRUOptions{}));
      return {output, h_n};
    }
    const auto [output, h_n] =
        rnn(x[0], of.hidden,
            with_state(nn::RNNOptions{.nonlinearity = kind == "relu" ? "relu" : "tanh"}));
    return {output, h_n};
  };
  return nn::detail::graph_of_call(nn::detail::backend_of<D, T>(), inputs, function);
}

// Compares the outputs, final states and all gradients of a case in T.
template <class T, class D>
void check_case(D& device, const std::string& kind, std::size_t number, double tolerance) {
  static const ReferenceFile reference("recurrent_states");
  const std::string name = kind + "." + std::to_string(number);
  for (const Slice& slice : slices_of_three<D>()) {
    CAPTURE(name);
    CAPTURE(slice.inner);
    nn::LayerRun<T, D> run(device, graph_of<D, T>(kind, cases[number]), slice);
    const auto pattern = [](const std::vector<double>& values, double scale = 1) {
      std::vector<T> all;
      for (const double value : values)
        all.push_back(static_cast<T>(value * scale));
      return all;
    };
    run.set_parameters(pattern(mixed_numbers(run.parameter_count(), 5, 1, 17), 0.25));
    const auto y = run.forward(pattern(mixed_numbers(batch * run.in_features(), 7, 3, 23)));
    CHECK(relative_error(y, reference.values(name + ".y")) < tolerance);
    const auto gradients =
        run.backward(pattern(mixed_numbers(batch * run.out_features(), 11, 5, 19)));
    CHECK(relative_error(gradients.dx, reference.values(name + ".dx")) < tolerance);
    CHECK(relative_error(gradients.parameters, reference.values(name + ".dp")) < tolerance);
    CHECK(gradients.padding == std::vector<T>(gradients.padding.size()));
    const auto without_dx =
        run.backward(pattern(mixed_numbers(batch * run.out_features(), 11, 5, 19)), Accumulate::no,
                     {}, InputGradient::skip);
    CHECK(without_dx.parameters == gradients.parameters);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("recurrent layers with initial states are PyTorch's", D, GPUNET_TEST_DEVICES) {
  for (const char* kind : {"lstm", "gru", "rnn", "relu"})
    for (std::size_t number = 0; number < cases.size(); ++number) {
      // Each of at most 10 steps and layers rounds by a few units, which the next ones pass on.
      check_case<double>(test_device<D>(), kind, number, 1e-13);
      check_case<float>(test_device<D>(), kind, number, 5e-6);
    }
}

TEST_CASE_TEMPLATE("the final states continue a sequence", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto model = [](Value x, Value h, Value c) -> std::vector<Value> {
    const auto [y, h_n, c_n] = lstm(x, 4, {.num_layers = 2, .h_0 = h, .c_0 = c, .name = "rnn"});
    return {y, h_n, c_n};
  };
  manual_seed(2);
  Network<D, double> whole(device, model, {6, 3}, {2, 4}, {2, 4});
  manual_seed(2);
  Network<D, double> half(device, model, {3, 3}, {2, 4}, {2, 4});
  CHECK(half.named_parameters()[0].name == "rnn.weight_ih_l0");
  CHECK(half.named_parameters()[7].name == "rnn.bias_hh_l1");
  Generator random(1);
  const std::vector<double> all = random_values<double>(2 * 6 * 3, random);
  const auto steps_of = [&](std::size_t first) {  // of both samples
    std::vector<double> part(all.begin() + static_cast<std::ptrdiff_t>(first),
                             all.begin() + static_cast<std::ptrdiff_t>(first) + 9);
    part.insert(part.end(), all.begin() + 18 + static_cast<std::ptrdiff_t>(first),
                all.begin() + 18 + static_cast<std::ptrdiff_t>(first) + 9);
    return Tensor<double, D>(device, {2, 3, 3}, part);
  };
  const Tensor<double, D> zeros(device, {2, 2, 4}, std::vector<double>(16));
  const auto expected = whole(Tensor<double, D>(device, {2, 6, 3}, all), zeros, zeros);
  const std::vector<double> y = expected[0].to_vector(), h_n = expected[1].to_vector(),
                            c_n = expected[2].to_vector();
  const auto first = half(steps_of(0), zeros, zeros);
  const Tensor<double, D> h(device, {2, 2, 4}, first[1].to_vector()),
      c(device, {2, 2, 4}, first[2].to_vector());
  const auto second = half(steps_of(9), h, c);
  CHECK(relative_error(second[1].to_vector(), h_n) < 1e-14);
  CHECK(relative_error(second[2].to_vector(), c_n) < 1e-14);
  const std::vector<double> last = second[0].to_vector();
  CHECK(relative_error(std::vector<double>(last.begin() + 12, last.end()),
                       std::vector<double>(y.begin() + 36, y.end())) < 1e-14);
}

TEST_CASE("a function has the numbers of the layer") {
  Host& host = test_device<Host>();
  manual_seed(3);
  Model<nn::Sequential<nn::Input<5, 3>, nn::LSTM<20, nn::NumLayers<2>, nn::Bidirectional>>, Host>
      layer(host);
  manual_seed(3);
  Network function(
      host, [](Value x) { return lstm(x, 20, {.num_layers = 2, .bidirectional = true}).output; },
      {5, 3});
  Generator random(1);
  const Tensor<float, Host> x(host, {33, 5, 3}, random_values<float>(33 * 15, random));
  CHECK(layer(x).to_vector() == function(x).to_vector());
  CHECK(to_string(function.graph())
            .find("LSTM(3, 20, num_layers=2, batch_first=True, bidirectional=True)") !=
        std::string::npos);
}

TEST_CASE("recurrent layers that cannot be built") {
  Host& host = test_device<Host>();
  const auto error = [&](auto f, const Sizes& state) {
    return error_of([&] { Network net(host, f, {3, 4}, state); });
  };
  CHECK(error([](Value x, Value h) { return gru(x, 8, {.h_0 = h}).output; }, {8}) ==
        "gpunet::nn::gru: an initial state of shape [batch, 8] (want [batch, 1, 8]: layers * "
        "directions, units), "
        "reshape "
        "it");
  CHECK(error([](Value x,
                 Value h) { return lstm(x, 8, {.bidirectional = true, .h_0 = h, .c_0 = h}).h_n; },
              {1, 8}) ==
        "gpunet::nn::lstm: an initial state of shape [batch, 1, 8] (want [batch, 2, 8]: layers * "
        "directions, units), "
        "reshape it");
  CHECK(
      error([](Value x, Value h) { return lstm(x, 8, {.h_0 = h}).output; }, {1, 8}) ==
      "gpunet::nn::lstm: one of h_0 and c_0 is missing (want both, or none for zeros), give both");
  CHECK(error([](Value, Value h) { return rnn(h, 8).output; }, {8}) ==
        "gpunet::nn::rnn: a value of shape [batch, 8] (want sequences [batch, steps, features] "
        "with 3 dimensions), "
        "reshape it");
  CHECK(error([](Value x, Value) { return rnn(x, 8, {.nonlinearity = "elu"}).output; }, {8}) ==
        "gpunet::nn::rnn: nonlinearity elu (want tanh or relu), call lstm or gru for other cells");
  CHECK(error([](Value x, Value) { return gru(x, 8, {.num_layers = 65}).output; }, {8}) ==
        "gpunet::nn::gru: 65 layers of 8 units (want 1 to 64, and 1 or more), change one");
  CHECK(error([](Value x, Value) { return gru(x, 8, {.dropout = 0.5}).output; }, {8}) ==
        "gpunet::nn::gru: dropout 0.5 of one layer (it would do nothing, zeros are made between "
        "layers), give "
        "num_layers, or call dropout");
}
