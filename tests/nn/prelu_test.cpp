#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/errors.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of PReLU", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    // Of an even number none is at the kink.
    check_layer_gradients(device, nn::PReLU<>{}, Shape<6>{}, slice);
    check_layer_gradients(device, nn::PReLU<>{}, Shape<2, 3, 1>{}, slice);
    check_layer_gradients(device, nn::PReLU<2>(-0.5), Shape<2, 3, 1>{}, slice);
    check_layer_gradients(device, nn::PReLU<4>{}, Shape<4>{}, slice);
  }
}

TEST_CASE("PReLU prints and begins as PyTorch's") {
  using Net = nn::Sequential<nn::Input<4>, nn::PReLU<>, nn::PReLU<4>>;
  CHECK(to_string(Net{}) ==
        "Sequential(\n"
        "  (0): PReLU(num_parameters=1)\n"
        "  (1): PReLU(num_parameters=4)\n"
        ")");
  Host device;
  const Model net(device, nn::Sequential{nn::Input<4>{}, nn::PReLU<4>(0.1)});
  CHECK(net.named_parameters()[0].name == "0.weight");
  CHECK(net.named_parameters()[0].sizes == Sizes{4});
  const std::vector<float> initial = to_vector(device, net.parameters());
  REQUIRE(initial.size() >= 4);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(initial[i] == 0.1f);
}

TEST_CASE("PReLU wants a slope for each channel") {
  CHECK(error_of([] { nn::PReLU<3>{}.output(Shape<4, 2>{}); }) ==
        "gpunet::nn::PReLU: 3 slopes for 4 channels (want 1 slope or one for each channel), change "
        "the number");
}
