#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "reference/initial_parameters.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"

using namespace gpunet;

namespace {

using Perceptron = nn::Sequential<nn::Input<4>, nn::Linear<8>, nn::ReLU, nn::Linear<9>, nn::ReLU, nn::Linear<3>>;
using Odd = nn::Sequential<nn::Input<1, 8, 6>, nn::Conv2d<3, 1>, nn::Conv2d<1, 5, nn::Padding<2>, nn::Stride<2>>,
                           nn::Conv2d<2, 7, nn::Padding<3>>, nn::Flatten, nn::Linear<1>, nn::Linear<5>>;

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

// The 64-bit FNV-1a hash of all bits.
template <class T>
std::uint64_t fnv1a(const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < values.size() * sizeof(T); ++i)
    hash = (hash ^ bytes[i]) * 0x100000001b3;
  return hash;
}

template <class T, class Net, class D, std::size_t N>
void check_draws(const reference::InitialParameters (&expected)[N]) {
  for (const auto& draws : expected) {
    CAPTURE(draws.seed);
    const std::vector<T> values = draw<T, Net, D>(draws.seed);
    CHECK(values.front() == static_cast<T>(draws.first));
    CHECK(values.back() == static_cast<T>(draws.last));
    CHECK(fnv1a(values) == draws.hash);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("a new model has PyTorch's parameters, bit for bit", D, GPUNET_TEST_DEVICES) {
  check_draws<float, LeNet, D>(reference::lenet_float);
  check_draws<float, Perceptron, D>(reference::perceptron_float);
  check_draws<double, Perceptron, D>(reference::perceptron_double);
  check_draws<float, Odd, D>(reference::odd_float);
  check_draws<double, Odd, D>(reference::odd_double);
}

TEST_CASE("bounds") {
  CHECK(nn::bias_bound(4) == 0.5);
  CHECK(nn::bias_bound(0) == 0);
  CHECK(nn::kaiming_uniform_bound(0) == 0);
  CHECK(nn::kaiming_uniform_bound(16) == doctest::Approx(0.25).epsilon(1e-15));     // a = sqrt(5)
  CHECK(nn::kaiming_uniform_bound(6, 0.0) == doctest::Approx(1.0).epsilon(1e-15));  // sqrt(6 / fan_in)
}
