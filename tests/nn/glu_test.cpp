#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/errors.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of GLU", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::GLU<>{}, Shape<6>{}, slice);
    check_layer_gradients(device, nn::GLU<>{}, Shape<3, 4>{}, slice);
    check_layer_gradients(device, nn::GLU<1>{}, Shape<4, 3>{}, slice);
    check_layer_gradients(device, nn::GLU<-2>{}, Shape<2, 2, 3>{}, slice);
  }
}

TEST_CASE("GLU prints as PyTorch's, and halves a dimension") {
  using Net = nn::Sequential<nn::Input<6, 4>, nn::GLU<>, nn::GLU<1>>;
  CHECK(to_string(Net{}) == "Sequential(\n  (0): GLU(dim=-1)\n  (1): GLU(dim=1)\n)");
  static_assert(std::is_same_v<decltype(Net{}.output()), Shape<3, 2>>);
  CHECK(error_of([] { nn::GLU<>{}.output(Shape<4, 5>{}); }) ==
        "gpunet::nn::GLU: 5 numbers along the dimension that is halved (want an even number), give "
        "the layer "
        "before one "
        "more");
}
