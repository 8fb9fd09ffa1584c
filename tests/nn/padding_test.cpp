#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of ZeroPad2d", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::ZeroPad2d<1>{}, Shape<2, 3, 4>{}, slice);
    check_layer_gradients(device, nn::ZeroPad2d<2>{}, Shape<1, 1, 1>{}, slice);
    check_layer_gradients(device, nn::ZeroPad2d<1, 2, 3, 0>{}, Shape<2, 2, 3>{}, slice);
    check_layer_gradients(device, nn::ZeroPad2d<0, 1, 0, 0>{}, Shape<3, 2, 2>{}, slice);
    check_layer_gradients(device, nn::ZeroPad2d<0, 0, 0, 2>{}, Shape<3, 2, 2>{}, slice);
    check_layer_gradients(device, nn::ZeroPad2d<0>{}, Shape<2, 2, 2>{}, slice);
  }
}

TEST_CASE_TEMPLATE("elements of a padded image", D, GPUNET_TEST_DEVICES) {
  LayerRun<float, D> run(test_device<D>(), nn::ZeroPad2d<2, 1, 0, 1>{}, Shape<1, 2, 2>{},
                         {1, 1, 1});
  CHECK(run.forward({1, 2, 3, 4}) ==
        std::vector<float>{0, 0, 1, 2, 0, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0});
  CHECK(run.backward({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}).dx ==
        std::vector<float>{2, 3, 7, 8});
  LayerRun<float, D> empty(test_device<D>(), nn::ZeroPad2d<1>{}, Shape<1, 0, 1>{}, {1, 1, 1});
  CHECK(empty.forward({}) == std::vector<float>(6));
}

TEST_CASE("output of ZeroPad2d") {
  static_assert(
      std::is_same_v<decltype(nn::ZeroPad2d<1>{}.output(Shape<2, 3, 4>{})), Shape<2, 5, 6>>);
  static_assert(std::is_same_v<decltype(nn::ZeroPad2d<1, 2, 3, 4>{}.output(Shape<2, 3, 4>{})),
                               Shape<2, 10, 7>>);
  const Shape dynamic(Dim<2>{}, Dim(index_t{3}), Dim<4>{});
  CHECK(nn::ZeroPad2d<1>{}.output(dynamic).sizes() == Sizes{2, 5, 6});
  const Shape huge(Dim(index_t{1} << 38), Dim(index_t{1}), Dim(index_t{1}));
  CHECK_THROWS_AS(nn::ZeroPad2d<1>{}.output(huge), Error);
}

TEST_CASE("ZeroPad2d is printed as by PyTorch") {
  const nn::Sequential<nn::Input<2, 9, 9>, nn::ZeroPad2d<1>, nn::ZeroPad2d<1, 2, 3, 4>> net;
  CHECK(nn::to_string(net) ==
        "Sequential(\n"
        "  (0): ZeroPad2d((1, 1, 1, 1))\n"
        "  (1): ZeroPad2d((1, 2, 3, 4))\n"
        ")");
}
