#include <algorithm>
#include <doctest/doctest.h>
#include <latch>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/nn/init.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "support/fnv1a.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;
namespace init = nn::init;

namespace {

// The functions of reference/random_tensors.py.
template <class T, class D>
std::vector<T> draw(D& device, const std::string& name, index_t n) {
  if (name == "rand") return gpunet::rand<T>(device, {n}).to_vector();
  if (name == "randn") return gpunet::randn<T>(device, {n}).to_vector();
  Tensor<T, D> x(device, {n}), rows(device, {n, 3}), images(device, {n, 1, 2, 2}),
      row(device, {1, n}), high(device, {2, n, 3, 1});
  const auto drawn = [](Tensor<T, D>& tensor, auto fill) {
    fill(tensor);
    return tensor.to_vector();
  };
  if (name == "normal") return drawn(x, [](auto& t) { init::normal_(t, 0.5, 3.0); });
  if (name == "uniform") return drawn(x, [](auto& t) { init::uniform_(t, -0.3, 0.7); });
  if (name == "trunc_normal") return drawn(x, [](auto& t) { init::trunc_normal_(t); });
  if (name == "trunc_normal_narrow")
    return drawn(x, [](auto& t) { init::trunc_normal_(t, 0.1, 0.5, -0.2, 0.3); });
  if (name == "trunc_normal_far")
    return drawn(x, [](auto& t) { init::trunc_normal_(t, 0.0, 1.0, 2.5, 4.0); });
  if (name == "kaiming_uniform") return drawn(rows, [](auto& t) { init::kaiming_uniform_(t); });
  if (name == "kaiming_normal")
    return drawn(images, [](auto& t) {
      init::kaiming_normal_(t, 0, init::FanMode::fan_out, init::Nonlinearity::relu);
    });
  if (name == "kaiming_normal_leaky")
    return drawn(row, [](auto& t) { init::kaiming_normal_(t, 0.2); });
  if (name == "xavier_uniform")
    return drawn(rows, [](auto& t) {
      init::xavier_uniform_(t, init::calculate_gain(init::Nonlinearity::tanh));
    });
  if (name == "xavier_normal") return drawn(high, [](auto& t) { init::xavier_normal_(t); });
  FAIL("no such function: ", name);
  return {};
}

// What PyTorch drew: the first value, the last, and a hash of all; and what random_() draws next.
struct RandomTensor {
  std::string name;
  bool is_double;
  index_t n;
  double first, last;
  std::uint64_t hash;
  index_t next;
};

std::vector<RandomTensor> reference_tensors() {
  const ReferenceFile file("random_tensors");
  std::vector<RandomTensor> tensors;
  for (const std::string& array : file.names()) {
    if (array.ends_with(".ends")) continue;
    const std::size_t dot = array.find('.');
    const auto rows = file.rows<index_t>(array);
    const auto ends = file.rows(array + ".ends");
    for (std::size_t i = 0; i < rows.size(); ++i)
      tensors.push_back({array.substr(0, dot), array.substr(dot) == ".double", rows[i][0],
                         ends[i][0], ends[i][1], static_cast<std::uint64_t>(rows[i][1]),
                         rows[i][2]});
  }
  REQUIRE(tensors.size() == 135);
  return tensors;
}

template <class T>
void check_values(const std::vector<T>& values, const RandomTensor& expected) {
  REQUIRE(!values.empty());
  CHECK(values.front() == static_cast<T>(expected.first));
  CHECK(values.back() == static_cast<T>(expected.last));
  CHECK(fnv1a(values) == expected.hash);
}

using Large = nn::Sequential<nn::Input<700>, nn::Linear<700>>;  // takes some milliseconds to draw
using Small = nn::Sequential<nn::Input<20>, nn::Named<"fc", nn::Linear<10>>>;

}  // namespace

TEST_CASE_TEMPLATE("tensors are drawn as by PyTorch, bit for bit", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const RandomTensor& expected : reference_tensors()) {
    const std::string& name = expected.name;
    CAPTURE(name);
    CAPTURE(expected.n);
    CAPTURE(expected.is_double);
    manual_seed(expected.n);
    if (name == "randperm")
      check_values(randperm(expected.n), expected);
    else if (name == "randint")
      check_values(gpunet::randint(device, -3, 7, {expected.n}).to_vector(), expected);
    else if (name == "randint_wide")
      check_values(gpunet::randint(device, 5, index_t{1} << 40, {expected.n}).to_vector(),
                   expected);
    else if (expected.is_double)
      check_values(draw<double>(device, name, expected.n), expected);
    else
      check_values(draw<float>(device, name, expected.n), expected);
    CHECK(default_generator().random63() == expected.next);
  }
}

TEST_CASE_TEMPLATE("parameters of a model can be drawn anew", D, GPUNET_TEST_DEVICES) {
  Model<Small, D> net(test_device<D>());
  const std::vector<float> before = parameters_of(net);
  const auto weight = get_parameter(net, "fc.weight"), bias = get_parameter(net, "fc.bias");
  Generator generator(5);
  init::normal_(weight, 0, 0.02, generator);
  init::ones_(bias);
  const std::vector<float> after = parameters_of(net);
  std::vector<float> expected(200);
  generator.manual_seed(5);
  draw_normal(generator, 200, expected.data(), 0, 0.02);
  const auto& named = net.named_parameters();
  CHECK(std::equal(expected.begin(), expected.end(), after.begin() + named[0].offset));
  for (index_t i = 0; i < 10; ++i)
    CHECK(after[static_cast<std::size_t>(named[1].offset + i)] == 1);
  init::zeros_(bias);
  CHECK(parameters_of(net)[static_cast<std::size_t>(named[1].offset)] == 0);
  init::constant_(get_parameter(net, "fc.bias"), 0.25);
  CHECK(parameters_of(net)[static_cast<std::size_t>(named[1].offset + 9)] == 0.25f);
  CHECK(error_of([&] { get_parameter(net, "fc2.bias"); }) ==
        "gpunet::get_parameter: the network has no parameter fc2.bias, it has fc.weight fc.bias");
}

TEST_CASE("pairs of normal numbers go on from tensor to tensor, and end with a seed") {
  Host& device = test_device<Host>();
  manual_seed(1);
  const std::vector<double> four = gpunet::randn<double>(device, {4}).to_vector();
  manual_seed(1);
  std::vector<double> pieces = gpunet::randn<double>(device, {3}).to_vector();
  pieces.push_back(gpunet::randn<double>(device, {1}).item());
  CHECK(pieces == four);
  gpunet::randn<double>(device, {1});
  manual_seed(1);
  CHECK(gpunet::randn<double>(device, {4}).to_vector() == four);
}

TEST_CASE("models that threads make side by side have parameters that one thread draws") {
  Host device({.threads = 1});
  const std::size_t models = 4;
  manual_seed(9);
  std::vector<std::vector<float>> expected, drawn(models);
  for (std::size_t i = 0; i < models; ++i)
    expected.push_back(parameters_of(Model<Large, Host>(device)));
  manual_seed(9);
  std::latch start(models);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < models; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      drawn[i] = parameters_of(Model<Large, Host>(device));
    });
  for (std::thread& thread : threads)
    thread.join();
  std::sort(expected.begin(), expected.end());
  std::sort(drawn.begin(), drawn.end());
  CHECK(drawn == expected);
}

TEST_CASE("whole numbers are drawn from the whole range, and from no empty one") {
  Host& host = test_device<Host>();
  std::vector<index_t> seen = gpunet::randint(host, -1, 2, {64}).to_vector();
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  CHECK(seen == std::vector<index_t>{-1, 0, 1});
  CHECK(gpunet::randint(host, 0, 5, {0}).numel() == 0);
  const auto error = [&](index_t low, index_t high) {
    return error_of([&] { gpunet::randint(host, low, high, {2}); });
  };
  CHECK(error(3, 3) ==
        "gpunet::randint: numbers from 3 to 3 (want the lower one first, which may be drawn, and "
        "fewer than 2^63)");
  CHECK(error(4, -4).starts_with("gpunet::randint: numbers from 4 to -4 (want"));
  constexpr index_t most = std::numeric_limits<index_t>::max();
  CHECK(error(-most, most)
            .starts_with(
                "gpunet::randint: numbers from -9223372036854775807 to 9223372036854775807"));
}

TEST_CASE("values that cannot be drawn") {
  Tensor<float, Host> x(test_device<Host>(), {4});
  CHECK(contains(error_of([&] { init::xavier_normal_(x); }),
                 "a parameter of shape [4] has no fan in and fan out"));
  CHECK(contains(error_of([&] { init::uniform_(x, 1, 0); }),
                 "uniform_: from 1 to 0 (want finite numbers, the lower"));
  CHECK(contains(error_of([&] { init::uniform_(x, 0, std::nan("")); }), "uniform_: from 0 to nan"));
  init::uniform_(x, 2, 2);
  CHECK(x.to_vector() == std::vector<float>(4, 2));
  CHECK(contains(error_of([&] { init::normal_(x, 0, -1); }), "invalid standard deviation -1"));
  CHECK(contains(error_of([&] { init::trunc_normal_(x, 0, 1, 2, 1); }), "from 2 to 1"));
  CHECK(init::calculate_gain(init::Nonlinearity::selu) == 0.75);
  CHECK(init::calculate_gain(init::Nonlinearity::sigmoid) == 1);
}
