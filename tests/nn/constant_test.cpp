// Tensors as constants in functions of values, against PyTorch: the cases constant_* of
// reference/values.py.
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include <gpunet/extras/diagram.hpp>
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/nn/gradient_check.hpp>
#include <gpunet/tensors.hpp>

#include "support/arrays.hpp"
#include "support/check_gradients.hpp"
#include "support/devices.hpp"
#include "support/errors.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;
using nn::Value;

namespace {

constexpr index_t batch = 3;

template <class D>
Tensor<double, D> numbers(D& device, const Sizes& sizes, index_t step, index_t start,
                          index_t modulus) {
  return {device, sizes, mixed_numbers(sizes.numel(), step, start, modulus)};
}

// The sinusoidal encoding of "Attention Is All You Need", [length, features].
template <class D>
Tensor<double, D> positions(D& device, index_t length, index_t features) {
  const Tensor place = unsqueeze(cast<double>(arange(device, length)), 1);
  const Tensor rate = exp(cast<double>(arange(device, 0, features, 2)) *
                          (-std::log(10000.0) / static_cast<double>(features)));
  Tensor<double, D> table(device, {length, features});
  slice(table, 1, {.step = 2}) = sin(place * rate);
  slice(table, 1, {.start = 1, .step = 2}) = cos(place * rate);
  return table;
}

struct Case {
  Sizes input;
  std::function<Value(const Value&)> function;
};

template <class D>
std::map<std::string, Case> cases(D& device) {
  return {
      {"constant_mul",
       {{3, 4},
        [&](const Value& x) {
          return x * numbers(device, {3, 4}, 5, 2, 13) + numbers(device, {3, 1}, 3, 1, 7) / x;
        }}},
      {"constant_wider",
       {{2, 4, 1},
        [&](const Value& x) {
          return (numbers(device, {2, 1, 3}, 5, 2, 13) - x) * x;
        }}},
      {"constant_positions",
       {{5, 4},
        [&](const Value& x) {
          return linear(unsqueeze(positions(device, 5, 4), 0) + x, 3);
        }}},
      {"constant_mask",
       {{4, 3},
        [&](const Value& x) {
          const Tensor mask = remainder(reshape(arange<double>(device, 12), {4, 3}), 5.0) > 1.0;
          return square(masked_fill(x, !mask, 0)) + max(x, numbers(device, {3}, 3, 1, 7));
        }}},
      {"constant_cat",
       {{2, 3},
        [&](const Value& x) {
          return square(nn::cat({x, constant(x, numbers(device, {1, 3}, 3, 1, 7))}, 1));
        }}},
  };
}

}  // namespace

TEST_CASE_TEMPLATE("constants in functions of values are PyTorch's buffers", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const ReferenceFile reference("values");
  for (const auto& entry : cases(device))
    for (const Slice& slice : slices_of_three<D>()) {
      const std::string& name = entry.first;
      const Case& one = entry.second;
      CAPTURE(name);
      CAPTURE(slice.inner);
      const auto function = [&f = one.function](const std::vector<Value>& x) {
        return f(x[0]);
      };
      nn::LayerRun<double, D> run(device,
                                  nn::detail::graph_of_call(nn::detail::backend_of<D, double>(),
                                                            std::span(&one.input, 1), function),
                                  slice);
      run.set_parameters(mixed_numbers(run.parameter_count(), 5, 1, 17));
      const std::vector<double> y = run.forward(mixed_numbers(batch * run.in_features(), 7, 3, 23));
      // The bounds of value_test.cpp.
      CHECK(relative_error(y, reference.values(name + ".y")) < 1e-13);
      const auto gradients = run.backward(mixed_numbers(batch * run.out_features(), 11, 5, 19));
      CHECK(relative_error(gradients.dx, reference.values(name + ".dx")) < 1e-12);
      if (run.parameter_count() > 0)
        CHECK(relative_error(gradients.parameters, reference.values(name + ".dp")) < 1e-12);
      CHECK(gradients.padding == std::vector<double>(gradients.padding.size()));
    }
}

// Tensors of any element type, views, expressions and parts of tensors.
TEST_CASE_TEMPLATE("every kind of tensor is a constant", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Host& host = test_device<Host>();
  const Tensor<float, D> floats(device, {2}, {0.5f, -2.0f});
  const Tensor<index_t, D> whole(device, {2}, {3, 4});
  const Tensor<bool, Host> mask(host, {2}, {true, false});
  const Tensor<float, Host> table(host, {2, 2}, {1, 2, 3, 4});
  Tensor<float, D> number(device, Sizes{}, {7});
  const auto output = [&](auto f) {
    Network net(device, f, {2});
    return net(Tensor<float, D>(device, {2, 2}, {1, 2, 3, 4})).to_vector();
  };
  using Floats = std::vector<float>;
  CHECK(output([&](Value x) { return x * floats; }) == Floats{0.5f, -4, 1.5f, -8});
  CHECK(output([&](Value x) { return whole - x; }) == Floats{2, 2, 0, 0});
  CHECK(output([&](Value x) { return x * mask; }) == Floats{1, 0, 3, 0});
  CHECK(output([&](Value x) { return x + View<const float, Host>(table.data(), {2}); }) ==
        Floats{2, 4, 4, 6});
  CHECK(output([&](Value x) { return x + table[1]; }) == Floats{4, 6, 6, 8});
  CHECK(output([&](Value x) { return x * (1 - 2 * floats); }) == Floats{0, 10, 0, 20});
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(output([&](Value x) { return masked_fill(x, mask, -infinity); }) ==
        Floats{-infinity, 2, -infinity, 4});
  CHECK(output([&](Value x) { return where(floats > 0, x, 10 * x); }) == Floats{1, 20, 3, 40});
  CHECK(output([&](Value x) { return softmax(masked_fill(x, !mask, -infinity), 1); }) ==
        Floats{1, 0, 1, 0});
  CHECK(output([&](Value x) { return minimum(x, number) / number; }) ==
        Floats{1 / 7.0f, 2 / 7.0f, 3 / 7.0f, 4 / 7.0f});
}

// A network stores a copy, and trains with it on both schedules.
TEST_CASE_TEMPLATE("a network owns its constants", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Tensor<float, D> mask(device, {3}, {1, 0, 2});
  const auto masked = [&](Value x) {
    return linear(x * mask, 2, {.name = "fc"});
  };
  manual_seed(3);
  Network net(device, masked, {3});
  // The product keeps Cuda from running whole steps in one kernel, which rounds differently.
  const auto plain = [](Value x) {
    return linear(x * 1, 2, {.name = "fc"});
  };
  Network unmasked(net, plain, {3});      // the same parameters
  Network shared(unmasked, masked, {3});  // with constants that the other network lacks
  mask = Tensor<float, D>(device, {3}, {9, 9, 9});
  const Tensor<float, D> x(device, {2, 3}, {1, 2, 3, 4, 5, 6}),
      product(device, {2, 3}, {1, 0, 6, 4, 0, 12});
  CHECK(net(x).to_vector() == unmasked(product).to_vector());
  CHECK(shared(x).to_vector() == net(x).to_vector());
  Network moved = std::move(shared);
  CHECK(moved(x).to_vector() == net(x).to_vector());

  // Steps change the parameters as those on the product do, bitwise, and not the constant. Its name
  // is in no file.
  CHECK(net.named_parameters().size() == 2);
  CHECK(net.named_buffers().empty());
  Network other(device, plain, {3});
  other.copy_state(net);
  const Tensor<label_t, D> labels(device, {2}, {0, 1});
  optim::SGD masked_optimizer(net, {.lr = 0.1, .momentum = 0.9}),
      optimizer(other, {.lr = 0.1, .momentum = 0.9});
  train::Step masked_step(net, nn::CrossEntropyLoss(), masked_optimizer);
  train::Step step(other, nn::CrossEntropyLoss(), optimizer);
  for (int i = 0; i < 4; ++i)
    CHECK(masked_step(x, labels).item() == step(product, labels).item());
  CHECK(net(x).to_vector() == other(product).to_vector());
}

TEST_CASE("networks with constants without a device: printing") {
  Host& host = test_device<Host>();
  const Tensor<double, Host> gain(host, {2, 1}, {0.5, 2.0});
  const Sizes input{2, 3};
  const auto call = [&](const std::vector<Value>& x) {
    return x[0] * gain;
  };
  const Graph graph =
      nn::detail::graph_of_call(nn::detail::Backend::none, std::span(&input, 1), call);
  CHECK(to_string(graph) == "Sequential(\n  (constant): Constant()\n  (mul): Product()\n)");
  CHECK(summary(graph, 8, 4).total_params == 0);
  CHECK(to_mermaid(summary(graph, 8, 4)).find("Constant") != std::string::npos);
  CHECK(Graph(graph).constants == std::vector<double>{0.5, 2.0});
}

TEST_CASE("tensors that are no constants of a value") {
  Host& host = test_device<Host>();
  using Function = Value (*)(const Value&, const Tensor<float, Host>&);
  const auto error = [&](const Sizes& shape, Function f) {
    const Tensor<float, Host> tensor(host, shape);
    return error_of([&] { Network net(host, [&](Value x) { return f(x, tensor); }, {4, 8}); });
  };
  const Function times = [](const Value& x, const Tensor<float, Host>& tensor) {
    return x * tensor;
  };
  const Function alone = [](const Value& x, const Tensor<float, Host>& tensor) {
    return constant(x, tensor);
  };
  const std::string want =
      " (want the same extents, counted from the last dimension, or 1, and 1 or none for the "
      "batch), reshape one "
      "of "
      "them";
  for (const Sizes& shape :
       {Sizes{3, 8}, Sizes{4}, Sizes{5, 4, 8}, Sizes{1, 1, 4, 8}, Sizes{1, 4, 7}})
    CHECK(error(shape, times) ==
          "gpunet::nn::mul: a value of shape [batch, 4, 8] and a tensor of shape " +
              to_string(shape) + want);
  CHECK(error({3}, [](const Value& x, const Tensor<float, Host>& t) { return t / sum(x); }) ==
        "gpunet::nn::div: a value of shape [batch] and a tensor of shape [3]" + want);
  CHECK(error({1, 4, 1}, times) == "");
  CHECK(
      error({8, 0}, times) ==
      "gpunet::nn::mul: a tensor of shape [8, 0] (want 1 element or more), give one with elements");
  CHECK(error_of(
            [&] { Network net(host, [](Value x) { return x + Tensor<float, Host>(); }, {4}); }) ==
        "gpunet::nn::add: a tensor of shape [0] (want 1 element or more), give one with elements");
  CHECK(error({0}, alone) ==
        "gpunet::nn::constant: a tensor of shape [0] (want 1 element or more), give one with "
        "elements");
  CHECK(error({1, 1, 1, 1, 1, 1, 1, 2}, alone) ==
        "gpunet::nn::constant: a tensor of shape [1, 1, 1, 1, 1, 1, 1, 2] (want 7 dimensions or "
        "fewer, the batch is "
        "one more), reshape it");
  std::vector<Value> kept;
  Network first(host, [&](Value x) { return kept.emplace_back(x); }, {4});
  CHECK(error_of([&] { kept[0] + Tensor<float, Host>(host, {4}); }) ==
        "gpunet::nn::Value: a value of a network that has been built already, use only values of "
        "the function that "
        "is "
        "running");
}
