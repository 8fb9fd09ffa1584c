#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/graph/fuse.hpp>
#include <gpunet/ops/add.hpp>

#include "support/networks.hpp"

using namespace gpunet;

namespace {

// ReLUs below layers that can rectify, below one that cannot, and below none.
using Mixed = nn::Sequential<nn::Input<2, 12, 12>, nn::Conv2d<4, 3>, nn::ReLU, nn::MaxPool2d<3>,  //
                             nn::Conv2d<3, 2>, nn::ReLU, nn::Flatten,                             //
                             nn::Linear<9>, nn::ReLU, nn::Linear<4>, nn::Linear<3>, nn::ReLU>;

template <class Net>
Plan plan_of(bool rectifies_gradients) {
  return Plan(fuse(nn::lower<Host, float>(Net{}), {true, false}), rectifies_gradients,
              InputGradient::skip);
}

template <class Net>
std::vector<bool> rectified(bool rectifies_gradients) {
  std::vector<bool> out;
  for (const PlannedNode& node : plan_of<Net>(rectifies_gradients).nodes)
    out.push_back(node.rectifies_dx);
  return out;
}

const PlannedValue& output_of(const Plan& plan, std::size_t node) {
  return plan.values[static_cast<std::size_t>(plan.nodes[node].output)];
}

}  // namespace

TEST_CASE("without rectified gradients every layer rectifies what it gets") {
  CHECK(rectified<LeNet>(false) == std::vector<bool>(5));
  CHECK(rectified<Mixed>(false) == std::vector<bool>(6));
  CHECK(!DeviceTraits<Host>::rectifies_gradients);
}

TEST_CASE("gradients are rectified where they are made, if the layer there can") {
  // Without Flatten.
  CHECK(rectified<LeNet>(true) == std::vector<bool>{false, true, true, true, true});
  CHECK(rectified<Mixed>(true) == std::vector<bool>{false, false, false, true, true, false});
  CHECK(DeviceTraits<Cuda>::rectifies_gradients);
}

TEST_CASE("activations of LeNet as it was written") {
  const Plan plan(nn::lower<Host, float>(LeNet{}), false, InputGradient::skip);
  CHECK(plan.input_features == 3072);
  CHECK(plan.output_features == 10);
  REQUIRE(plan.nodes.size() == 11);  // Flatten is a view
  CHECK(output_of(plan, 2).features == 6 * 14 * 14);
  for (std::size_t i = 0; i + 1 < plan.nodes.size(); ++i) {
    CHECK(output_of(plan, i + 1).offset - output_of(plan, i).offset ==
          round_up(output_of(plan, i).features, sample_alignment));
    CHECK(plan.nodes[i].cache % cache_alignment == 0);
  }
  CHECK(plan.nodes[3].cache - plan.nodes[2].cache >=
        6 * 14 * 14 * static_cast<index_t>(sizeof(PoolChoice)));
}

TEST_CASE("gradients take the memory of the two largest neighbors") {
  const Plan plan(nn::lower<Host, float>(LeNet{}), false, InputGradient::skip);
  CHECK(plan.gradient_elements == 2 * 6 * 28 * 28);  // behind the first convolution and its ReLU
  for (std::size_t i = 0; i + 2 < plan.nodes.size(); ++i) {
    const PlannedValue &a = output_of(plan, i), &b = output_of(plan, i + 1);
    if (b.gradient < 0) continue;  // the network's output
    CHECK((a.gradient + a.features <= b.gradient || b.gradient + b.features <= a.gradient));
  }
  CHECK(!plan.nodes[0].inputs[0].wants_gradient);
  CHECK(plan.nodes[1].inputs[0].wants_gradient);
}

TEST_CASE("nodes below which there are no parameters run no backward pass") {
  using Net = nn::Sequential<nn::Input<8>, nn::Tanh, nn::ReLU, nn::Linear<3>>;
  const Graph graph = nn::lower<Host, float>(Net{});
  const Plan plan(graph, false, InputGradient::skip),
      with_input(graph, false, InputGradient::compute);
  CHECK(!plan.nodes[0].has_backward);
  CHECK(!plan.nodes[1].has_backward);
  CHECK(plan.nodes[2].has_backward);
  CHECK(!plan.nodes[2].inputs[0].wants_gradient);
  CHECK(plan.gradient_elements == 0);
  CHECK(with_input.nodes[0].has_backward);
  CHECK(with_input.values[0].gradient >= 0);
}

TEST_CASE(
    "of a value that two nodes read, the later one leaves the gradient and the earlier one adds") {
  Lowering<Host, float> builder(Sizes{4});
  const auto linear = [&](const char* name, value_t x) {
    builder.enter(name);
    const value_t y = nn::lower(builder, nn::Linear<4>{}, x, Shape<4>{});
    builder.leave();
    return y;
  };
  const value_t a = linear("a", GraphBuilder::input), b = linear("b", a);
  const value_t unread = nn::lower(builder, nn::Tanh{}, b, Shape<4>{});
  CHECK(unread == 3);
  const value_t sum = builder.add(AddOp{}, std::array{a, b}, Sizes{4});
  const Graph graph = std::move(builder).finish(sum);
  const Plan plan(graph, false, InputGradient::skip);
  REQUIRE(plan.nodes.size() == 3);  // without what nobody reads
  CHECK((!plan.nodes[2].inputs[0].adds_gradient && !plan.nodes[2].inputs[1].adds_gradient));
  CHECK(plan.nodes[1].inputs[0].adds_gradient);
  CHECK(plan.nodes[1].adding >= 0);
}
