#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/model/network_plan.hpp>
#include <gpunet/nn/linear.hpp>

#include "support/errors.hpp"
#include "support/networks.hpp"

using namespace gpunet;

TEST_CASE("the parameters of LeNet have PyTorch's names and sizes, and do not overlap") {
  const NetworkPlan<LeNet> plan{LeNet{}};
  const std::vector<std::pair<std::string, Sizes>> expected{
      {"conv1.weight", {6, 3, 5, 5}}, {"conv1.bias", {6}}, {"conv2.weight", {16, 6, 5, 5}}, {"conv2.bias", {16}},
      {"fc1.weight", {120, 400}},     {"fc1.bias", {120}}, {"fc2.weight", {84, 120}},       {"fc2.bias", {84}},
      {"fc3.weight", {10, 84}},       {"fc3.bias", {10}}};
  REQUIRE(plan.parameters.size() == expected.size());
  index_t end = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const ParameterInfo& parameter = plan.parameters[i];
    CHECK(parameter.name == expected[i].first);
    CHECK(parameter.sizes == expected[i].second);
    CHECK(parameter.offset >= end);
    CHECK(parameter.offset % parameter_alignment == 0);
    CHECK(plan.parameter_offsets[i] == parameter.offset);
    end = parameter.offset + parameter.sizes.numel();
  }
  CHECK(plan.parameter_elements >= end);
  CHECK(plan.offsets(3)[1] == plan.parameters[3].offset);  // layer 3 is conv2
}

TEST_CASE("activations of LeNet") {
  const NetworkPlan<LeNet> plan{LeNet{}};
  CHECK(plan.input_features == 3072);
  CHECK(plan.output_features == 10);
  CHECK(plan.widest == 6 * 28 * 28);
  CHECK(plan.features[2] == 6 * 14 * 14);
  CHECK(plan.features[6] == 400);  // Flatten
  for (std::size_t i = 0; i + 1 < LeNet::depth; ++i) {
    const bool view = i == 6;
    CHECK(plan.output[i + 1] - plan.output[i] == (view ? 0 : round_up(plan.features[i], sample_alignment)));
    CHECK(plan.cache[i] % cache_alignment == 0);
  }
  CHECK(plan.cache[3] - plan.cache[2] >= 6 * 14 * 14 * static_cast<index_t>(sizeof(PoolChoice)));
}

TEST_CASE("parameters of layers without a name are called by position, as in torch.nn.Sequential") {
  using Net = nn::Sequential<nn::Input<4>, nn::Linear<8>, nn::ReLU, nn::Linear<3>>;
  const NetworkPlan<Net> plan{Net{}};
  REQUIRE(plan.parameters.size() == 4);
  CHECK(plan.parameters[0].name == "0.weight");
  CHECK(plan.parameters[1].name == "0.bias");
  CHECK(plan.parameters[2].name == "2.weight");
  CHECK(plan.parameters[3].name == "2.bias");
}

TEST_CASE("a network without parameters") {
  using Net = nn::Sequential<nn::Input<4>, nn::ReLU>;
  const NetworkPlan<Net> plan{Net{}};
  CHECK(plan.parameters.empty());
  CHECK(plan.parameter_elements == 0);
}

TEST_CASE("sizes that no memory holds are refused before they are added up") {
  const auto message = [](const auto& net) {
    return error_of([&] { NetworkPlan<std::remove_cvref_t<decltype(net)>> plan(net); });
  };
  const index_t wide = 4'000'000'000;
  const nn::Sequential product{nn::Input<8>{}, nn::Linear{wide}, nn::Linear{wide}};
  CHECK(message(product) ==
        "gpunet::Model: layer 1 has parameters of shape [4000000000, 4000000000] (want 2^48 numbers or fewer, no "
        "memory "
        "holds more), give smaller sizes");
  const nn::Sequential input{nn::Input{Shape{Dim{index_t{1} << 62}}}, nn::Linear{index_t{4}}};
  CHECK(message(input) ==
        "gpunet::Model: layer 0 takes inputs of shape [4611686018427387904] (want 2^48 numbers or fewer, no memory "
        "holds more), "
        "give smaller sizes");
}
