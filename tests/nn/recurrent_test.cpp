#include <algorithm>

#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/errors.hpp"

using namespace gpunet;

TEST_CASE("gradients of LSTM, GRU and RNN on Host") {
  Host& device = test_device<Host>();
  for (const Slice& slice : test_slices<Host>()) {
    check_layer_gradients(device, nn::LSTM<3>{}, Shape<4, 2>{}, slice);
    check_layer_gradients(device, nn::LSTM<2, nn::NumLayers<2>, nn::Bidirectional>{}, Shape<3, 2>{},
                          slice);
    check_layer_gradients(device, nn::LSTM<2, nn::NumLayers<3>, nn::Bias<false>>{}, Shape<2, 3>{},
                          slice);
    check_layer_gradients(device, nn::GRU<3>{}, Shape<4, 2>{}, slice);
    check_layer_gradients(device, nn::GRU<2, nn::NumLayers<2>, nn::Bidirectional>{}, Shape<3, 2>{},
                          slice);
    check_layer_gradients(device, nn::GRU<2, nn::Bias<false>>{}, Shape<1, 3>{}, slice);
    check_layer_gradients(device, nn::RNN<3>{}, Shape<4, 2>{}, slice);
    check_layer_gradients(device, nn::RNN<2, nn::NumLayers<2>, nn::Bidirectional>{}, Shape<3, 2>{},
                          slice);
    check_layer_gradients(device,
                          nn::LSTM<2, nn::NumLayers<3>, nn::Bidirectional>{{.dropout = 0.5}},
                          Shape<2, 2>{}, slice);
    check_layer_gradients(device, nn::GRU<2, nn::Bidirectional, nn::LastState>{}, Shape<3, 2>{},
                          slice);
  }
}

// Few parameters: every one is moved four times, and a GPU may be simulated.
TEST_CASE_TEMPLATE("gradients of LSTM, GRU, RNN and LastStep", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Slice slice = test_slices<D>().back();
  check_layer_gradients(device, nn::LSTM<1>{}, Shape<2, 1>{}, slice);
  check_layer_gradients(device, nn::GRU<1, nn::Bias<false>>{}, Shape<2, 1>{}, slice);
  check_layer_gradients(
      device,
      nn::RNN<1, nn::Bias<false>, nn::LastState, nn::Bidirectional, nn::NumLayers<2>>{
          {.dropout = 0.5}},
      Shape<2, 1>{}, slice);
  check_layer_gradients(device, nn::LastStep{}, Shape<3, 2>{}, slice);
  check_layer_gradients(device, nn::LastStep{}, Shape<4>{}, slice);
}

namespace {

// Results in float and in double, with PyTorch's initial weights, which are small: the rounding of
// a step, a few units of 6e-8 for sums of up to 60 products, adds to that of at most 9 others.
template <class L, class D>
void compare_precisions(D& device, index_t batch, L layer,
                        const std::vector<Slice>& slices = test_slices<D>()) {
  constexpr Shape<9, 20> in;
  for (const Slice& slice : slices) {
    CAPTURE(slice.inner);
    nn::LayerRun<float, D> in_float(device, layer, in, slice);
    nn::LayerRun<double, D> in_double(device, layer, in, slice);
    Generator generator(static_cast<int>(batch));
    const auto draw = [&](index_t n, float limit) {
      return random_values<float>(n, generator, -limit, limit);
    };
    const auto widened = [](const std::vector<float>& values) {
      return std::vector<double>(values.begin(), values.end());
    };
    const std::vector<float> weights = draw(in_float.parameter_count(), 0.2f);
    const std::vector<float> x = draw(slice.count * in_float.in_features(), 1);
    const std::vector<float> dy = draw(slice.count * in_float.out_features(), 1);
    in_float.set_parameters(weights);
    in_double.set_parameters(widened(weights));
    CHECK(relative_error(in_float.forward(x), in_double.forward(widened(x))) < 5e-6);
    const auto gradients = in_float.backward(dy);
    const auto exact = in_double.backward(widened(dy));
    CHECK(relative_error(gradients.dx, exact.dx) < 5e-6);
    CHECK(relative_error(gradients.parameters, exact.parameters) < 5e-6);
  }
}

// The output and gradients of a large slice, as one array.
std::vector<float> results(Host& device, index_t seed) {
  const Slice slice{30, 2, 16};
  nn::LayerRun<float, Host> run(device, nn::LSTM<130>{}, Shape<2, 9>{}, slice);
  Generator generator(static_cast<int>(seed));
  run.set_parameters(random_values<float>(run.parameter_count(), generator, -0.1f, 0.1f));
  std::vector<float> all = run.forward(random_values<float>(slice.count * 18, generator, -1, 1));
  const auto gradients = run.backward(random_values<float>(slice.count * 260, generator, -1, 1));
  all.insert(all.end(), gradients.dx.begin(), gradients.dx.end());
  all.insert(all.end(), gradients.parameters.begin(), gradients.parameters.end());
  return all;
}

}  // namespace

TEST_CASE("several groups of samples and threads share packed weights") {
  Host one({.threads = 1}), three({.threads = 3});
  CHECK(results(one, 1) == results(three, 1));
  // gates * hidden of 72 units are packed in two blocks.
  compare_precisions(one, 7, nn::LSTM<72>{}, {{32, 2, 16}, {20, 2, 16}});
}

TEST_CASE_TEMPLATE("dropout between recurrent layers", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  using Layer = nn::RNN<1, nn::ReLU, nn::Bias<false>, nn::NumLayers<2>>;
  for (const Slice& slice : test_slices<D>()) {
    nn::LayerRun<float, D> run(device, Layer{{.dropout = 0.75}}, Shape<1, 1>{}, slice);
    run.set_parameters({1, 1, 1, 1});
    const std::vector<float> x(static_cast<std::size_t>(slice.count), 3.0f);
    const std::vector<float> y = run.forward(x);
    for (const float value : y)
      CHECK((value == 0 || value == 12));
    const std::vector<float> dx = run.backward(std::vector<float>(x.size(), 1.0f)).dx;
    for (std::size_t i = 0; i < y.size(); ++i)
      CHECK(dx[i] == y[i] / 3);
    if (slice.count == 16)
      CHECK(
          (std::count(y.begin(), y.end(), 0.0f) > 6 && std::count(y.begin(), y.end(), 0.0f) < 16));
    run.set_mode(nn::Mode::eval);
    CHECK(run.forward(x) == x);
  }
  // Every layer has its own zeros, and so has every step.
  nn::LayerRun<float, D> run(
      device, nn::RNN<1, nn::ReLU, nn::Bias<false>, nn::NumLayers<3>>{{.dropout = 0.5}},
      Shape<64, 1>{}, Slice{1, 1, 1});
  run.set_parameters({1, 0, 1, 0, 1, 0});
  const std::vector<float> y = run.forward(std::vector<float>(64, 1.0f));
  const auto count = std::count(y.begin(), y.end(), 4.0f);
  CHECK((count > 4 && count < 32));
}

TEST_CASE_TEMPLATE("the last state is that of each direction", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    nn::LayerRun<float, D> all(device, nn::GRU<2, nn::Bidirectional>{}, Shape<3, 1>{}, slice);
    nn::LayerRun<float, D> last(device, nn::GRU<2, nn::Bidirectional, nn::LastState>{},
                                Shape<3, 1>{}, slice);
    Generator generator(5);
    const std::vector<float> weights =
        random_values<float>(all.parameter_count(), generator, -1, 1);
    const std::vector<float> x = random_values<float>(slice.count * 3, generator, -1, 1);
    all.set_parameters(weights);
    last.set_parameters(weights);
    const std::vector<float> states = all.forward(x);
    std::vector<float> expected;
    for (std::size_t n = 0; n < static_cast<std::size_t>(slice.count); ++n)
      for (const std::size_t k : {8u, 9u, 2u, 3u})
        expected.push_back(states[n * 12 + k]);
    CHECK(last.forward(x) == expected);
  }
}

TEST_CASE_TEMPLATE("recurrent layers in float", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  compare_precisions(device, 1, nn::LSTM<24>{});
  compare_precisions(device, 2, nn::LSTM<16, nn::NumLayers<2>, nn::Bidirectional>{});
  compare_precisions(device, 3, nn::GRU<24>{});
  compare_precisions(device, 4, nn::GRU<7, nn::Bidirectional>{});
  compare_precisions(device, 5, nn::RNN<24, nn::ReLU>{});
  compare_precisions(device, 6, nn::RNN<5>{});
}

TEST_CASE("recurrent layers print as PyTorch's") {
  using Net = nn::Sequential<nn::Input<6, 3>, nn::LSTM<4, nn::NumLayers<2>, nn::Bidirectional>,
                             nn::GRU<5, nn::Bias<false>>, nn::RNN<2, nn::ReLU>, nn::LastStep>;
  CHECK(to_string(nn::Sequential(nn::Input<6, 3>{},
                                 nn::LSTM<4, nn::NumLayers<2>, nn::LastState>{{.dropout = 0.2}})) ==
        "Sequential(\n"
        "  (0): LSTM(3, 4, num_layers=2, batch_first=True, dropout=0.2)\n"
        ")");
  CHECK(to_string(Net{}) ==
        "Sequential(\n"
        "  (0): LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True)\n"
        "  (1): GRU(8, 5, bias=False, batch_first=True)\n"
        "  (2): RNN(5, 2, batch_first=True)\n"
        "  (3): LastStep()\n"
        ")");
  static_assert(std::is_same_v<decltype(nn::LSTM<4, nn::Bidirectional>{}.output(Shape<6, 3>{})),
                               Shape<6, 8>>);
  static_assert(std::is_same_v<decltype(nn::LSTM<4, nn::Bidirectional, nn::LastState>{}.output(
                                   Shape<6, 3>{})),
                               Shape<8>>);
  static_assert(std::is_same_v<decltype(nn::LastStep{}.output(Shape<6, 3>{})), Shape<3>>);
}

TEST_CASE("impossible dropout") {
  CHECK(error_of([] { nn::LSTM<3, nn::NumLayers<2>>{{.dropout = 1.5}}; }) ==
        "gpunet::nn: dropout 1.5 of a recurrent layer (want 0 to 1), give the probability of a "
        "zero: 0.2 for 20 %");
  CHECK(error_of([] { nn::GRU<3>{{.dropout = 0.5}}; }) ==
        "gpunet::nn: dropout 0.5 of a recurrent layer that has one layer (it would do nothing, "
        "zeros are made "
        "between "
        "layers), add NumLayers<2>, or put a Dropout behind it");
}

TEST_CASE("sequences of 0 steps") {
  CHECK(error_of([] { nn::LSTM<3>{}.output(Shape(Dim(0), Dim(2))); }) ==
        "gpunet::nn: a sequence of 0 steps for a recurrent layer (want 1 or more), give Input "
        "another size");
}
