#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/ops/add.hpp>

#include "support/errors.hpp"
#include "support/networks.hpp"

using namespace gpunet;

TEST_CASE("the parameters of LeNet have PyTorch's names and sizes, and do not overlap") {
  const Graph graph = nn::lower<Host, float>(LeNet{});
  const std::vector<std::pair<std::string, Sizes>> expected{
      {"conv1.weight", {6, 3, 5, 5}},  {"conv1.bias", {6}},
      {"conv2.weight", {16, 6, 5, 5}}, {"conv2.bias", {16}},
      {"fc1.weight", {120, 400}},      {"fc1.bias", {120}},
      {"fc2.weight", {84, 120}},       {"fc2.bias", {84}},
      {"fc3.weight", {10, 84}},        {"fc3.bias", {10}}};
  REQUIRE(graph.parameters.size() == expected.size());
  index_t end = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const ParameterInfo& parameter = graph.parameters[i];
    CHECK(parameter.name == expected[i].first);
    CHECK(parameter.sizes == expected[i].second);
    CHECK(parameter.offset >= end);
    CHECK(parameter.offset % parameter_alignment == 0);
    CHECK(graph.parameter_offsets[i] == parameter.offset);
    end = parameter.offset + parameter.sizes.numel();
  }
  CHECK(graph.parameter_elements >= end);
  CHECK(graph.nodes[3].first_parameter == 2);  // layer 3 is conv2
}

TEST_CASE("parameters of layers without a name are called by position, as in torch.nn.Sequential") {
  using Net = nn::Sequential<nn::Input<4>, nn::Linear<8>, nn::ReLU, nn::Linear<3>>;
  const Graph graph = nn::lower<Host, float>(Net{});
  REQUIRE(graph.parameters.size() == 4);
  CHECK(graph.parameters[0].name == "0.weight");
  CHECK(graph.parameters[1].name == "0.bias");
  CHECK(graph.parameters[2].name == "2.weight");
  CHECK(graph.parameters[3].name == "2.bias");
}

TEST_CASE("a network without parameters") {
  using Net = nn::Sequential<nn::Input<4>, nn::ReLU>;
  const Graph graph = nn::lower<Host, float>(Net{});
  CHECK(graph.parameters.empty());
  CHECK(graph.parameter_elements == 0);
}

TEST_CASE("sizes that no memory holds are refused before they are added up") {
  const auto message = [](const auto& net) {
    return error_of([&] { nn::lower<Host, float>(net); });
  };
  const index_t wide = 4'000'000'000;
  const nn::Sequential product{nn::Input<8>{}, nn::Linear{wide}, nn::Linear{wide}};
  CHECK(message(product) ==
        "gpunet::Model: layer 1 has parameters of shape [4000000000, 4000000000] (want 2^48 "
        "numbers or fewer, no "
        "memory "
        "holds more), give smaller sizes");
  const nn::Sequential input{nn::Input{Shape{Dim{index_t{1} << 62}}}, nn::Linear{index_t{4}}};
  CHECK(message(input) ==
        "gpunet::Model: layer 0 takes inputs of shape [4611686018427387904] (want 2^48 numbers or "
        "fewer, no memory "
        "holds more), "
        "give smaller sizes");
}

TEST_CASE("what an op may be") {
  Lowering<Host, float> builder(Sizes{4});
  builder.enter("join");
  CHECK(error_of([&] { builder.add(AddOp{}, std::vector<value_t>(17), Sizes{4}); }) ==
        "gpunet::Model: layer join has 17 inputs (want 1 to 16), join some in a layer before it");
}

namespace {

struct TwoWeights {
  constexpr auto output(auto in) const { return in; }
  constexpr auto parameters(auto) const {
    return std::array{nn::constant("weight", {1}, 1), nn::constant("weight", {2}, 1)};
  }
};

}  // namespace

TEST_CASE("two parameters of a layer have two names") {
  using Net = nn::Sequential<nn::Input<4>, TwoWeights>;
  CHECK(error_of([] { nn::lower<void, void>(Net{}); }) ==
        "gpunet::Model: layer 0 has two parameters called weight (they would be one key), rename "
        "one in its "
        "parameters(in)");
}
