#include <gpunet/gpunet.hpp>

#include "support/gradient_check.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("a named layer is the layer", D, GPUNET_TEST_DEVICES) {
  using Layer = nn::Named<"fc", nn::Linear<2>>;
  check_layer_gradients(test_device<D>(), Layer{}, Shape<3>{}, Slice{2, 2, 1});
  CHECK(Layer::name == "fc");
  static_assert(std::is_empty_v<Layer>);
  static_assert(std::is_same_v<decltype(Layer{}.output(Shape<3>{})), Shape<2>>);
}

TEST_CASE("a named layer of a size given at run time") {
  const nn::Named<"fc", nn::Linear<>> layer(nn::Linear{5});
  CHECK(layer.output(Shape<3>{}).sizes() == Sizes{5});
}

TEST_CASE("a view layer may have a name") {
  static_assert(nn::is_view<nn::Named<"flat", nn::Flatten>>);
}
