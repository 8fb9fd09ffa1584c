#include <doctest/doctest.h>

#include <gpunet/nn/flatten.hpp>
#include <gpunet/nn/linear.hpp>
#include <gpunet/nn/named.hpp>

using namespace gpunet;

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
  static_assert(nn::is_view<nn::Named<"flat", nn::Flatten>>);
}
