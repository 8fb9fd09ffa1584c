#include <limits>

#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/reference_check.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of MaxPool2d", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::MaxPool2d<2>{}, Shape<2, 5, 4>{}, slice);
    check_layer_gradients(device, nn::MaxPool2d<3, nn::Stride<1>, nn::Padding<1>>{},
                          Shape<1, 3, 5>{}, slice);
    check_layer_gradients(device, nn::MaxPool2d<3, nn::Stride<2>>{}, Shape<1, 7, 6>{}, slice);
    check_layer_gradients(device, nn::MaxPool2d<2, nn::Stride<3>>{}, Shape<3, 2, 6>{}, slice);
    check_layer_gradients(device, nn::MaxPool2d<1>{}, Shape<2, 1, 1>{}, slice);
    check_layer_gradients(device, nn::MaxPool2d<4, nn::Padding<2>>{}, Shape<1, 1, 2>{}, slice);
    check_layer_gradients(
        device, nn::MaxPool2d<3, nn::KernelWidth<2>, nn::Stride<2, 1>, nn::Padding<1, 0>>{},
        Shape<2, 6, 5>{}, slice);
    check_layer_gradients(device, nn::MaxPool2d<2, nn::CeilMode<true>>{}, Shape<2, 5, 7>{}, slice);
    check_layer_gradients(device, nn::MaxPool2d<3, nn::Padding<1>, nn::CeilMode<true>>{},
                          Shape<1, 4, 3>{}, slice);
    check_layer_gradients(device, nn::MaxPool1d<3, nn::Stride<2>, nn::Padding<1>>{}, Shape<2, 9>{},
                          slice);
    check_layer_gradients(device, nn::MaxPool1d<2, nn::CeilMode<true>>{}, Shape<3, 5>{}, slice);
  }
}

TEST_CASE_TEMPLATE("MaxPool2d is PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  check_against_reference<float>(device, nn::MaxPool2d<2>{}, Shape<2, 5, 4>{}, "max_pool2d_2", 5);
  check_against_reference<double>(device, nn::MaxPool2d<2>{}, Shape<2, 5, 4>{}, "max_pool2d_2", 5);
  check_against_reference<float>(device, nn::MaxPool2d<3, nn::Stride<1>, nn::Padding<1>>{},
                                 Shape<1, 4, 5>{}, "max_pool2d_3_stride1_padding1");
  check_against_reference<float>(device, nn::MaxPool2d<2, nn::Stride<3>>{}, Shape<1, 5, 6>{},
                                 "max_pool2d_2_stride3", 5);
}

// Windows [nan 1; 2 nan], four times -inf, and [3 nan; 4 5], with the output gradient 1, in PyTorch
// 2.15
TEST_CASE_TEMPLATE("MaxPool2d of what is not a number, and of infinities", D, GPUNET_TEST_DEVICES) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              inf = std::numeric_limits<float>::infinity();
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
  static_assert(
      std::is_same_v<decltype(nn::MaxPool2d<2>{}.output(Shape<6, 29, 28>{})), Shape<6, 14, 14>>);
  using Overlapping = nn::MaxPool2d<3, nn::Padding<1>, nn::Stride<2>>;
  static_assert(
      std::is_same_v<decltype(Overlapping{}.output(Shape<6, 28, 27>{})), Shape<6, 14, 14>>);
  static_assert(std::is_empty_v<Overlapping>);
  const Shape dynamic(Dim<6>{}, Dim(index_t{29}), Dim<28>{});
  CHECK(nn::MaxPool2d<2>{}.output(dynamic).sizes() == Sizes{6, 14, 14});
}

TEST_CASE("output of poolings in ceil mode and of one dimension") {
  using nn::CeilMode, nn::Padding, nn::Stride;
  static_assert(
      std::is_same_v<decltype(nn::MaxPool2d<2, CeilMode<true>>{}.output(Shape<6, 29, 28>{})),
                     Shape<6, 15, 14>>);
  // Another window would begin in the padding behind the image.
  static_assert(
      std::is_same_v<decltype(nn::MaxPool2d<2, Stride<3>, Padding<1>, CeilMode<true>>{}.output(
                         Shape<6, 5, 6>{})),
                     Shape<6, 2, 3>>);
  static_assert(
      std::is_same_v<decltype(nn::MaxPool2d<3, CeilMode<true>>{}.output(Shape<6, 2, 3>{})),
                     Shape<6, 1, 1>>);
  static_assert(
      std::is_same_v<decltype(nn::MaxPool2d<3, nn::KernelWidth<2>, Stride<2, 1>, Padding<1, 0>>{}
                                  .output(Shape<6, 6, 5>{})),
                     Shape<6, 3, 4>>);
  static_assert(
      std::is_same_v<decltype(nn::MaxPool1d<3, Stride<2>>{}.output(Shape<6, 8>{})), Shape<6, 3>>);
  static_assert(
      std::is_same_v<decltype(nn::AvgPool1d<3, Stride<2>, CeilMode<true>>{}.output(Shape<6, 8>{})),
                     Shape<6, 4>>);
  CHECK(nn::MaxPool2d<2, CeilMode<true>>{}
            .output(Shape(Dim<6>{}, Dim(index_t{29}), Dim<28>{}))
            .sizes() == Sizes{6, 15, 14});
  CHECK(nn::MaxPool1d<2>{}.output(Shape(Dim<6>{}, Dim(index_t{9}))).sizes() == Sizes{6, 4});
}

TEST_CASE("only poolings of 2 x 2 without ceil mode are fused into a convolution") {
  const auto nodes = [](auto pooling) {
    Host host;
    const Model<nn::Sequential<nn::Input<1, 8, 8>, nn::Conv2d<2, 3>, nn::ReLU, decltype(pooling)>,
                Host>
        net(host);
    return net.fused_graph().nodes.size();
  };
  const std::size_t fused = nodes(nn::MaxPool2d<2>{});
  CHECK(nodes(nn::MaxPool2d<2, nn::CeilMode<true>>{}) == fused + 1);
  CHECK(nodes(nn::MaxPool2d<2, nn::KernelWidth<3>, nn::Stride<2>>{}) == fused + 1);
  CHECK(nodes(nn::MaxPool2d<2, nn::Stride<2, 1>>{}) == fused + 1);
}

TEST_CASE("maximum poolings are printed as by PyTorch") {
  const nn::Sequential<nn::Input<2, 9, 9>,
                       nn::MaxPool2d<3, nn::KernelWidth<2>, nn::Stride<2, 1>, nn::Padding<1, 0>>,
                       nn::MaxPool2d<2, nn::Stride<1>, nn::CeilMode<true>>>
      images;
  CHECK(nn::to_string(images) ==
        "Sequential(\n"
        "  (0): MaxPool2d(kernel_size=(3, 2), stride=(2, 1), padding=(1, 0), dilation=1, "
        "ceil_mode=False)\n"
        "  (1): MaxPool2d(kernel_size=2, stride=1, padding=0, dilation=1, ceil_mode=True)\n"
        ")");
  const nn::Sequential<nn::Input<2, 9>,
                       nn::MaxPool1d<3, nn::Stride<2>, nn::Padding<1>, nn::CeilMode<true>>>
      rows;
  CHECK(nn::to_string(rows) ==
        "Sequential(\n"
        "  (0): MaxPool1d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=True)\n"
        ")");
}

TEST_CASE("an image that is smaller than the window") {
  const Shape small(Dim<6>{}, Dim(index_t{2}), Dim<28>{});
  CHECK_THROWS_WITH_AS(
      nn::MaxPool2d<3>{}.output(small),
      "gpunet::nn::MaxPool2d: the kernel (3) is larger than the padded image (2 x 28), use a "
      "smaller kernel or a larger image",
      Error);
  CHECK_THROWS_WITH_AS(
      (nn::MaxPool2d<3, nn::KernelWidth<2>>{}.output(small)),
      "gpunet::nn::MaxPool2d: the kernel (3 x 2) is larger than the padded image (2 x 28), use a "
      "smaller kernel or a larger image",
      Error);
  CHECK_THROWS_WITH_AS(
      (nn::MaxPool1d<5, nn::Padding<1>>{}.output(Shape(Dim<6>{}, Dim(index_t{2})))),
      "gpunet::nn::MaxPool1d: the kernel (5) is larger than the padded length (4), use a smaller "
      "kernel or longer inputs",
      Error);
}
