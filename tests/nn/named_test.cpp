#include <doctest/doctest.h>
#include <type_traits>

#include <gpunet/nn/flatten.hpp>
#include <gpunet/nn/linear.hpp>
#include <gpunet/nn/named.hpp>

using namespace gpunet;

namespace {

template <FixedString Name>
struct Tagged {
  static constexpr std::string_view name = Name.view();
};

}  // namespace

TEST_CASE("a string as a template argument") {
  CHECK(Tagged<"conv1">::name == "conv1");
  CHECK(Tagged<"">::name.empty());
  static_assert(std::is_same_v<Tagged<"fc">, Tagged<"fc">>);
  static_assert(!std::is_same_v<Tagged<"fc">, Tagged<"fd">>);
  static_assert(!std::is_same_v<Tagged<"fc">, Tagged<"fc1">>);
}

TEST_CASE("a named layer is the layer with a name") {
  using Layer = nn::Named<"fc", nn::Linear<2>>;
  static_assert(Layer::name == "fc");
  static_assert(std::is_base_of_v<nn::Linear<2>, Layer>);
  static_assert(std::is_empty_v<Layer>);
  static_assert(std::is_same_v<decltype(Layer{}.output(Shape<3>{})), Shape<2>>);
  CHECK(nn::parameters(Layer{}, Shape<3>{})[0].sizes == Sizes{2, 3});
}

TEST_CASE("a named layer of a size given at run time") {
  const nn::Named<"fc", nn::Linear<>> layer(nn::Linear{5});
  CHECK(layer.output(Shape<3>{}).sizes() == Sizes{5});
}

TEST_CASE("a view layer may have a name") {
  Lowering<void, void> builder(Sizes{2, 3});
  const nn::Named<"flat", nn::Flatten> flat;
  const value_t y = nn::lower(builder, flat, GraphBuilder::input, Shape<2, 3>{});
  const Graph graph = std::move(builder).finish(y);
  CHECK(graph.traits(graph.nodes[0]).is_view);
  CHECK(graph.nodes[0].as<nn::Flatten>());
}
