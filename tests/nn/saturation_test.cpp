#include <cmath>
#include <limits>

#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/isas.hpp"

using namespace gpunet;

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

// A layer's results for some numbers, one sample each.
template <class L, class D>
std::vector<float> results(D& device, const std::vector<float>& x) {
  const auto n = static_cast<index_t>(x.size());
  return LayerRun<float, D>(device, L{}, Shape<1>{}, Slice{n, n, 1}).forward(x);
}

}  // namespace

TEST_CASE_TEMPLATE("gradients of Tanh and Sigmoid", D, GPUNET_TEST_DEVICES) {
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(test_device<D>(), nn::Tanh{}, Shape<7>{}, slice);
    check_layer_gradients(test_device<D>(), nn::Sigmoid{}, Shape<2, 3, 1>{}, slice);
  }
}

TEST_CASE_TEMPLATE("both ends of Tanh and Sigmoid", D, GPUNET_TEST_DEVICES) {
  const KeepIsa keep;
  for (Isa path : isas()) {
    set_isa(path);
    D& device = test_device<D>();
    CHECK(results<nn::Tanh>(device, {0, 100, -100, infinite, -infinite}) == std::vector<float>{0, 1, -1, 1, -1});
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
        const double tangent = std::tanh(static_cast<double>(x[i])), logistic = 1 / (1 + std::exp(-double{x[i]}));
        most = std::max({most, std::abs(y[i] / tangent - 1), std::abs(z[i] / logistic - 1)});
      }
      CAPTURE(n);
      CHECK(most <= 4 * 0x1p-23);
    }
}
