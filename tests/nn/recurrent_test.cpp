#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/errors.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of LSTM, GRU, RNN and LastStep", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::LSTM<3>{}, Shape<4, 2>{}, slice);
    check_layer_gradients(device, nn::LSTM<2, nn::NumLayers<2>, nn::Bidirectional>{}, Shape<3, 2>{}, slice);
    check_layer_gradients(device, nn::LSTM<2, nn::NumLayers<3>, nn::Bias<false>>{}, Shape<2, 3>{}, slice);
    check_layer_gradients(device, nn::GRU<3>{}, Shape<4, 2>{}, slice);
    check_layer_gradients(device, nn::GRU<2, nn::NumLayers<2>, nn::Bidirectional>{}, Shape<3, 2>{}, slice);
    check_layer_gradients(device, nn::GRU<2, nn::Bias<false>>{}, Shape<1, 3>{}, slice);
    check_layer_gradients(device, nn::RNN<3>{}, Shape<4, 2>{}, slice);
    check_layer_gradients(device, nn::RNN<2, nn::NumLayers<2>, nn::Bidirectional>{}, Shape<3, 2>{}, slice);
    check_layer_gradients(device, nn::LastStep{}, Shape<3, 2>{}, slice);
    check_layer_gradients(device, nn::LastStep{}, Shape<4>{}, slice);
  }
}

namespace {

// Results in float and in double, with PyTorch's initial weights, which are small: the rounding of a step, a few units of 6e-8 for
// sums of up to 60 products, adds to that of at most 9 others.
template <class L, class D>
void compare_precisions(D& device, index_t batch, L layer) {
  constexpr Shape<9, 20> in;
  for (const Slice& slice : test_slices<D>()) {
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

}  // namespace

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
  CHECK(to_string(Net{}) ==
        "Sequential(\n"
        "  (0): LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True)\n"
        "  (1): GRU(8, 5, bias=False, batch_first=True)\n"
        "  (2): RNN(5, 2, batch_first=True)\n"
        "  (3): LastStep()\n"
        ")");
  static_assert(std::is_same_v<decltype(nn::LSTM<4, nn::Bidirectional>{}.output(Shape<6, 3>{})), Shape<6, 8>>);
  static_assert(std::is_same_v<decltype(nn::LastStep{}.output(Shape<6, 3>{})), Shape<3>>);
}

TEST_CASE("sequences of 0 steps") {
  CHECK(error_of([] { nn::LSTM<3>{}.output(Shape(Dim(0), Dim(2))); }) ==
        "gpunet::nn: a sequence of 0 steps for a recurrent layer (want 1 or more), give Input another size");
}
