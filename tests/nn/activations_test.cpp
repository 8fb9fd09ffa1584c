#include <cmath>
#include <limits>
#include <span>
#include <string>

#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/errors.hpp"
#include "support/isas.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

// A layer's results for some numbers, one sample each.
template <class L, class D>
std::vector<float> results(D& device, const std::vector<float>& x) {
  const auto n = static_cast<index_t>(x.size());
  return LayerRun<float, D>(device, L{}, Shape<1>{}, Slice{n, n, 1}).forward(x);
}

// Calls f with the name and the layer of each case of the reference.
template <class F>
void with_all(F f) {
#define GPUNET_CASE(scope, Name) f(std::string(scope::Name::function_name), scope::Name());
  GPUNET_ACTIVATIONS(GPUNET_CASE)
  GPUNET_ACTIVATIONS_OF_1(GPUNET_CASE)
  GPUNET_ACTIVATIONS_OF_2(GPUNET_CASE)
#undef GPUNET_CASE
  f("gelu", nn::GELU{});
  f("gelu_options", nn::GELU(nn::Approximate::tanh));
  f("hardtanh_options", nn::Hardtanh(-0.4, 1.7));
  f("leaky_relu_options", nn::LeakyReLU(0.2));
  f("elu_options", nn::ELU(0.7));
  f("softplus_options", nn::Softplus(2, 2.9));
  f("hardshrink_options", nn::Hardshrink(0.3));
}

const ReferenceFile& reference() {
  static const ReferenceFile file("activations");
  return file;
}

template <class T>
void check_near(const std::vector<T>& values, const std::vector<double>& expected, double most) {
  REQUIRE(values.size() == expected.size());
  double off = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    off = std::max(off, std::abs(values[i] - expected[i]) / std::max(1.0, std::abs(expected[i])));
  CHECK(off <= most);
}

template <class T, class D, class L>
void check_reference(D& device, const std::string& name, const L& layer, double most) {
  const std::vector<T> x = reference().values<T>("x"), dy = reference().values<T>("dy");
  const auto n = static_cast<index_t>(x.size());
  LayerRun<T, D> run(device, layer, Shape<1>{}, Slice{n, n, 1});
  check_near(run.forward(x), reference().values<double>(name + ".y"), most);
  check_near(run.backward(dy).dx, reference().values<double>(name + ".dx"), most);
}

}  // namespace

TEST_CASE_TEMPLATE("gradients of activations", D, GPUNET_TEST_DEVICES) {
  for (const Slice& slice : test_slices<D>())
    with_all([&](const std::string& name, const auto& layer) {
      CAPTURE(name);
      // Of an even number none is at a kink.
      check_layer_gradients(test_device<D>(), layer, Shape<6>{}, slice);
      check_layer_gradients(test_device<D>(), layer, Shape<2, 3, 1>{}, slice);
    });
}

// In double within 1e-12 of the numbers of PyTorch, whose functions are those of another library
// (its gradient of Hardsigmoid has 1 / 6 as a float). In float, the vector functions are off by up
// to 3 units in the last place (6e-8 each), and a formula has up to three of them and some sums,
// whose terms are at most 2 and cancel.
TEST_CASE_TEMPLATE("activations are PyTorch's", D, GPUNET_TEST_DEVICES) {
  const KeepIsa keep;
  for (Isa path : isas()) {
    set_isa(path);
    with_all([](const std::string& name, const auto& layer) {
      CAPTURE(name);
      check_reference<double>(test_device<D>(), name, layer, name == "hardsigmoid" ? 1e-7 : 1e-12);
      check_reference<float>(test_device<D>(), name, layer, 2e-6);
    });
  }
}

TEST_CASE("activations are printed as by PyTorch") {
  Host host;
  const auto& metadata = reference().metadata();
  with_all([&](const std::string& name, const auto& layer) {
    const std::string text = to_string(nn::Sequential(nn::Input<2>(), layer));
    const std::string expected = metadata.at(name);
    CHECK(text == concat("Sequential(\n  (0): ", expected, "\n)"));
  });
}

TEST_CASE("options of activations that make no sense") {
  CHECK(error_of([] { nn::Hardtanh(1, 1); }) ==
        "gpunet::nn::Hardtanh: min_val 1 and max_val 1 (want the second to be larger)");
  CHECK(error_of([] { nn::Softplus(0); }) ==
        "gpunet::nn::Softplus: beta 0 (the result is divided by it), want another number");
}

TEST_CASE_TEMPLATE("both ends of Tanh and Sigmoid", D, GPUNET_TEST_DEVICES) {
  const KeepIsa keep;
  for (Isa path : isas()) {
    set_isa(path);
    D& device = test_device<D>();
    CHECK(results<nn::Tanh>(device, {0, 100, -100, infinite, -infinite}) ==
          std::vector<float>{0, 1, -1, 1, -1});
    CHECK(results<nn::Sigmoid>(device, {0, 200, -200, infinite, -infinite}) ==
          std::vector<float>{0.5f, 1, 0, 1, 0});
    CHECK(std::isnan(results<nn::Tanh>(device, {std::nanf("")})[0]));
    CHECK(std::isnan(results<nn::Sigmoid>(device, {std::nanf("")})[0]));
  }
}

// 2 ulp of the vector functions, and one each for the sum and the quotient.
TEST_CASE_TEMPLATE("Tanh and Sigmoid of arrays of every length", D, GPUNET_TEST_DEVICES) {
  const KeepIsa keep;
  Generator generator(1);
  for (Isa path : isas())
    for (index_t n : {1, 3, 4, 7, 8, 15, 16, 17, 33, 8191, 8192, 8193, 20'000}) {
      set_isa(path);
      const std::vector<float> x = random_values<float>(n, generator, -9, 9);
      const std::vector<float> y = results<nn::Tanh>(test_device<D>(), x);
      const std::vector<float> z = results<nn::Sigmoid>(test_device<D>(), x);
      double most = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double tangent = std::tanh(static_cast<double>(x[i])),
                     logistic = 1 / (1 + std::exp(-double{x[i]}));
        most = std::max({most, std::abs(y[i] / tangent - 1), std::abs(z[i] / logistic - 1)});
      }
      CAPTURE(n);
      CHECK(most <= 4 * 0x1p-23);
    }
}
