#include <limits>

#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/reference_check.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of MaxPool2d", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::MaxPool2d<2>{}, Shape<2, 5, 4>{}, slice);
    check_layer_gradients(device, nn::MaxPool2d<3, nn::Stride<1>, nn::Padding<1>>{}, Shape<1, 3, 5>{}, slice);
    check_layer_gradients(device, nn::MaxPool2d<3, nn::Stride<2>>{}, Shape<1, 7, 6>{}, slice);
    check_layer_gradients(device, nn::MaxPool2d<2, nn::Stride<3>>{}, Shape<3, 2, 6>{}, slice);
    check_layer_gradients(device, nn::MaxPool2d<1>{}, Shape<2, 1, 1>{}, slice);
    check_layer_gradients(device, nn::MaxPool2d<4, nn::Padding<2>>{}, Shape<1, 1, 2>{}, slice);
  }
}

TEST_CASE_TEMPLATE("MaxPool2d is PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  check_against_reference<float>(device, nn::MaxPool2d<2>{}, Shape<2, 5, 4>{}, reference::max_pool2d_2, 5);
  check_against_reference<double>(device, nn::MaxPool2d<2>{}, Shape<2, 5, 4>{}, reference::max_pool2d_2, 5);
  check_against_reference<float>(device, nn::MaxPool2d<3, nn::Stride<1>, nn::Padding<1>>{}, Shape<1, 4, 5>{},
                                 reference::max_pool2d_3_stride1_padding1);
  check_against_reference<float>(device, nn::MaxPool2d<2, nn::Stride<3>>{}, Shape<1, 5, 6>{},
                                 reference::max_pool2d_2_stride3, 5);
}

// Windows [nan 1; 2 nan], four times -inf, and [3 nan; 4 5], with the output gradient 1, in PyTorch 2.15
TEST_CASE_TEMPLATE("MaxPool2d of what is not a number, and of infinities", D, GPUNET_TEST_DEVICES) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  std::vector<Slice> slices{{1, 1, 1}};
  if constexpr (std::same_as<D, Host>) slices = {{1, 1, 1}, {1, 1, 4}, {1, 1, 16}};
  for (const Slice& slice : slices) {
    LayerRun<float, D> run(test_device<D>(), nn::MaxPool2d<2>{}, Shape<3, 2, 2>{}, slice);
    const auto y = run.forward({nan, 1, 2, nan, -inf, -inf, -inf, -inf, 3, nan, 4, 5});
    CHECK(std::isnan(y[0]));
    CHECK(y[1] == -inf);
    CHECK(std::isnan(y[2]));
    CHECK(run.backward({1, 1, 1}).dx == std::vector<float>{0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0});
  }
}

TEST_CASE("output of MaxPool2d") {
  static_assert(std::is_same_v<decltype(nn::MaxPool2d<2>{}.output(Shape<6, 29, 28>{})), Shape<6, 14, 14>>);
  using Overlapping = nn::MaxPool2d<3, nn::Padding<1>, nn::Stride<2>>;
  static_assert(std::is_same_v<decltype(Overlapping{}.output(Shape<6, 28, 27>{})), Shape<6, 14, 14>>);
  static_assert(std::is_empty_v<Overlapping>);
  const Shape dynamic(Dim<6>{}, Dim(index_t{29}), Dim<28>{});
  CHECK(nn::MaxPool2d<2>{}.output(dynamic).sizes() == Sizes{6, 14, 14});
}

TEST_CASE("an image that is smaller than the window") {
  const Shape small(Dim<6>{}, Dim(index_t{2}), Dim<28>{});
  CHECK_THROWS_WITH_AS(nn::MaxPool2d<3>{}.output(small),
                       "gpunet::nn::MaxPool2d: the kernel (3) is larger than the padded image (2 x 28), use a "
                       "smaller kernel or a larger image",
                       Error);
}
