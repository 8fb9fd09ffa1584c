#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of PixelShuffle", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::PixelShuffle<2>{}, Shape<8, 2, 3>{}, slice);
    check_layer_gradients(device, nn::PixelShuffle<3>{}, Shape<9, 1, 2>{}, slice);
    check_layer_gradients(device, nn::PixelShuffle<2>{}, Shape<4, 1, 1>{}, slice);
    check_layer_gradients(device, nn::PixelShuffle<1>{}, Shape<2, 2, 2>{}, slice);
  }
}

TEST_CASE_TEMPLATE("elements of a shuffled image", D, GPUNET_TEST_DEVICES) {
  LayerRun<float, D> run(test_device<D>(), nn::PixelShuffle<2>{}, Shape<4, 1, 2>{}, {1, 1, 1});
  CHECK(run.forward({0, 1, 2, 3, 4, 5, 6, 7}) == std::vector<float>{0, 2, 1, 3, 4, 6, 5, 7});
}

TEST_CASE("output of PixelShuffle") {
  static_assert(
      std::is_same_v<decltype(nn::PixelShuffle<3>{}.output(Shape<18, 4, 5>{})), Shape<2, 12, 15>>);
  const Shape dynamic(Dim(index_t{6}), Dim<4>{}, Dim<5>{});
  CHECK(nn::PixelShuffle<1>{}.output(dynamic).sizes() == Sizes{6, 4, 5});
  CHECK_THROWS_WITH_AS(nn::PixelShuffle<2>{}.output(dynamic),
                       "gpunet::nn::PixelShuffle: 6 channels (want a multiple of 4, the square of "
                       "the factor), give as "
                       "many",
                       Error);
}

TEST_CASE("PixelShuffle is printed as by PyTorch") {
  const nn::Sequential<nn::Input<16, 3, 3>, nn::PixelShuffle<2>, nn::PixelShuffle<1>> net;
  CHECK(nn::to_string(net) ==
        "Sequential(\n"
        "  (0): PixelShuffle(upscale_factor=2)\n"
        "  (1): PixelShuffle(upscale_factor=1)\n"
        ")");
}
