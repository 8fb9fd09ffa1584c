#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/fnv1a.hpp"
#include "support/networks.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;

namespace {

using Perceptron =
    nn::Sequential<nn::Input<4>, nn::Linear<8>, nn::ReLU, nn::Linear<9>, nn::ReLU, nn::Linear<3>>;
using Odd =
    nn::Sequential<nn::Input<1, 8, 6>, nn::Conv2d<3, 1>,
                   nn::Conv2d<1, 5, nn::Padding<2>, nn::Stride<2>>,
                   nn::Conv2d<2, 7, nn::Padding<3>>, nn::Flatten, nn::Linear<1>, nn::Linear<5>>;
using Lesson =
    nn::Sequential<nn::Input<3, 32, 32>, nn::Conv2d<6, 5>, nn::ReLU, nn::MaxPool2d<2>,
                   nn::Conv2d<16, 5, nn::Padding<3>>, nn::ReLU, nn::Conv2d<16, 5>, nn::ReLU,
                   nn::MaxPool2d<2>, nn::Conv2d<16, 3>, nn::ReLU, nn::MaxPool2d<2>, nn::Flatten,
                   nn::Linear<120>, nn::Linear<84>, nn::Linear<10>>;
using One = nn::Sequential<nn::Input<1>, nn::Linear<1>>;
using Wide = nn::Sequential<nn::Input<123>, nn::Linear<457>>;
using Deep = nn::Sequential<nn::Input<2>, nn::Linear<3>, nn::Linear<4>, nn::Linear<5>,
                            nn::Linear<6>, nn::Linear<7>, nn::Linear<8>, nn::Linear<9>,
                            nn::Linear<10>, nn::Linear<11>, nn::Linear<12>>;
using Strided = nn::Sequential<nn::Input<2, 9, 7>, nn::Conv2d<5, 2, nn::Stride<2>>,
                               nn::Conv2d<7, 3, nn::Stride<3>, nn::Padding<1>>>;
using Pixels = nn::Sequential<nn::Input<17, 2, 2>, nn::Conv2d<33, 1>, nn::Conv2d<16, 1>,
                              nn::Flatten, nn::Linear<2>>;
using Digits = nn::Sequential<nn::Input<1, 28, 28>, nn::Conv2d<8, 3>, nn::Conv2d<16, 3>,
                              nn::Conv2d<24, 3>, nn::Flatten, nn::Linear<32>, nn::Linear<10>>;
using Convolutions =
    nn::Sequential<nn::Input<6, 9, 8>, nn::Conv2d<12, 3, nn::Groups<3>>,
                   nn::Conv2d<12, 1, nn::KernelWidth<4>, nn::Groups<12>>, nn::Reshape<12, 21>,
                   nn::Conv1d<7, 5>, nn::ConvTranspose1d<6, 3, nn::Stride<2>>, nn::Reshape<6, 5, 7>,
                   nn::ConvTranspose2d<4, 2, nn::KernelWidth<3>, nn::Groups<2>>,
                   nn::ConvTranspose2d<2, 2, nn::Bias<false>>>;
// It is never run: its indices are no indices.
using Words = nn::Sequential<nn::Input<2>, nn::Embedding<3, 4>, nn::Linear<2>, nn::Embedding<7, 3>,
                             nn::Embedding<40, 5, nn::PaddingIdx<3>>>;
using Transformer = nn::Sequential<
    nn::Input<7>, nn::Embedding<5, 6>,
    nn::TransformerEncoder<3, nn::TransformerEncoderLayer<3, 10, nn::NormFirst>, nn::LayerNorm<>>,
    nn::MultiheadAttention<2, nn::Bias<false>>, nn::Linear<4>>;

// The parameters of a new model, in the order of the state dict, without the gaps of the arena.
template <class T, class Net, class D>
std::vector<T> draw(std::int64_t seed) {
  D& device = test_device<D>();
  manual_seed(seed);
  Model<Net, D, T> model(device);
  std::vector<T> arena(static_cast<std::size_t>(model.parameters().numel())), values;
  device.download(arena.data(), model.parameters().data(), arena.size() * sizeof(T));
  for (const auto& parameter : model.named_parameters()) {
    const T* first = arena.data() + parameter.offset;
    values.insert(values.end(), first, first + parameter.sizes.numel());
  }
  return values;
}

// Compares with the first parameter, the last, and the hash of all after each seed.
template <class T, class Net, class D>
void check_draws(const std::string& name) {
  static const ReferenceFile file("initial_parameters");
  const auto rows = file.rows<index_t>(name);
  const auto ends = file.rows<T>(name + ".ends");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const index_t seed = rows[i][0];
    CAPTURE(seed);
    const std::vector<T> values = draw<T, Net, D>(seed);
    CHECK(values.front() == ends[i][0]);
    CHECK(values.back() == ends[i][1]);
    CHECK(fnv1a(values) == static_cast<std::uint64_t>(rows[i][1]));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("a new model has PyTorch's parameters, bit for bit", D, GPUNET_TEST_DEVICES) {
  check_draws<float, LeNet, D>("lenet_float");
  check_draws<float, Perceptron, D>("perceptron_float");
  check_draws<double, Perceptron, D>("perceptron_double");
  check_draws<float, Odd, D>("odd_float");
  check_draws<double, Odd, D>("odd_double");
  check_draws<float, Lesson, D>("lesson_float");
  check_draws<float, One, D>("one_float");
  check_draws<float, Wide, D>("wide_float");
  check_draws<double, Wide, D>("wide_double");
  check_draws<float, Deep, D>("deep_float");
  check_draws<float, Strided, D>("strided_float");
  check_draws<float, Pixels, D>("pixels_float");
  check_draws<float, Digits, D>("digits_float");
  check_draws<float, Convolutions, D>("convolutions_float");
  check_draws<double, Convolutions, D>("convolutions_double");
  check_draws<float, Words, D>("words_float");
  check_draws<double, Words, D>("words_double");
  check_draws<float, Transformer, D>("transformer_float");
  check_draws<double, Transformer, D>("transformer_double");
}

TEST_CASE("bounds") {
  CHECK(nn::bias_bound(4) == 0.5);
  CHECK(nn::bias_bound(0) == 0);
  CHECK(nn::kaiming_uniform_bound(0) == 0);
  CHECK(nn::kaiming_uniform_bound(16) == doctest::Approx(0.25).epsilon(1e-15));  // a = sqrt(5)
  // sqrt(6 / fan_in).
  CHECK(nn::kaiming_uniform_bound(6, 0.0) == doctest::Approx(1.0).epsilon(1e-15));
}
