#include <doctest/doctest.h>
#include <string>

#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

template <class D, class L>
void check_same(D& device, const char* name, const L& layer) {
  CAPTURE(std::string(name));
  for (const Slice& slice : test_slices<D>()) {
    LayerRun<float, D> chosen(device, nn::AnyActivation(name), Shape<2, 5>{}, slice);
    LayerRun<float, D> known(device, layer, Shape<2, 5>{}, slice);
    Generator generator(4);
    const auto x = random_values<float>(10 * slice.count, generator, -3, 3);
    const auto dy = random_values<float>(10 * slice.count, generator);
    CHECK(chosen.forward(x) == known.forward(x));
    CHECK(chosen.backward(dy).dx == known.backward(dy).dx);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("a chosen activation has the bits of the one whose name it has", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  check_same(device, "relu", nn::ReLU{});
  check_same(device, "relu6", nn::ReLU6{});
  check_same(device, "leaky_relu", nn::LeakyReLU{});
  check_same(device, "elu", nn::ELU{});
  check_same(device, "selu", nn::SELU{});
  check_same(device, "gelu", nn::GELU{});
  check_same(device, "silu", nn::SiLU{});
  check_same(device, "mish", nn::Mish{});
  check_same(device, "tanh", nn::Tanh{});
  check_same(device, "sigmoid", nn::Sigmoid{});
  check_same(device, "logsigmoid", nn::LogSigmoid{});
  check_same(device, "softplus", nn::Softplus{});
  check_same(device, "softsign", nn::Softsign{});
  check_same(device, "hardtanh", nn::Hardtanh{});
  check_same(device, "hardswish", nn::Hardswish{});
  check_same(device, "hardsigmoid", nn::Hardsigmoid{});
}

TEST_CASE_TEMPLATE("the linear activation is none", D, GPUNET_TEST_DEVICES) {
  for (const Slice& slice : test_slices<D>()) {
    LayerRun<float, D> run(test_device<D>(), nn::AnyActivation("linear"), Shape<3>{}, slice);
    Generator generator(4);
    const auto x = random_values<float>(3 * slice.count, generator);
    const auto dy = random_values<float>(3 * slice.count, generator);
    CHECK(run.forward(x) == x);
    CHECK(run.backward(dy).dx == dy);
  }
}

TEST_CASE_TEMPLATE("gradients of chosen activations", D, GPUNET_TEST_DEVICES) {
  for (const char* name : {"relu", "tanh", "sigmoid", "linear"})
    for (const Slice& slice : test_slices<D>())
      check_layer_gradients(test_device<D>(), nn::AnyActivation(name), Shape<7>{}, slice);
}

TEST_CASE("a chosen activation is printed as the layer that it is") {
  const nn::Sequential net(nn::Input<2>{}, nn::Linear(4), nn::AnyActivation("tanh"), nn::Linear(3),
                           nn::Named<"last", nn::AnyActivation>(nn::AnyActivation("linear")));
  CHECK(nn::to_string(net) == R"(Sequential(
  (0): Linear(in_features=2, out_features=4, bias=True)
  (1): Tanh()
  (2): Linear(in_features=4, out_features=3, bias=True)
  (last): Identity()
))");
  const nn::Sequential others(nn::Input<2>{}, nn::AnyActivation("relu"),
                              nn::AnyActivation("sigmoid"));
  CHECK(summary(others, 1).layers[0].class_name == "ReLU");
  CHECK(summary(others, 1).layers[1].class_name == "Sigmoid");
  CHECK(summary(net, 1).layers[1].class_name == "Tanh");
}

TEST_CASE("an activation that nobody knows") {
  CHECK(error_of([] { nn::AnyActivation("Tanh"); }) ==
        "gpunet::nn::AnyActivation: 'Tanh' is no activation (want linear, relu, gelu, relu6, selu, "
        "silu, mish, tanh, sigmoid, logsigmoid, softsign, hardswish, hardsigmoid, leaky_relu, elu, "
        "hardshrink, hardtanh or softplus), write a layer of your own for another");
}

TEST_CASE("layers with run-time sizes have the names of their parameters") {
  Host& host = test_device<Host>();
  const index_t n = 5;
  const nn::Sequential layers(nn::Input<4>{}, nn::named<"fc1">(nn::Linear{n}),
                              nn::AnyActivation("gelu"),
                              nn::named<"head">(nn::Sequential(nn::Linear{n, nn::Bias<false>{}})),
                              nn::named<"act">(nn::AnyActivation("silu")));
  const Model net(host, layers);
  std::vector<std::string> keys;
  for (const ParameterInfo& parameter : net.named_parameters())
    keys.push_back(concat(parameter.name, to_string(parameter.sizes)));
  CHECK(keys == std::vector<std::string>{"fc1.weight[5, 4]", "fc1.bias[5]", "head.0.weight[5, 5]"});
  CHECK(contains(nn::to_string(layers), "(fc1): Linear(in_features=4, out_features=5, bias=True)"));
}
