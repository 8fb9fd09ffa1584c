#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/geometry_text.hpp"
#include "support/reference_check.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of Conv2d", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::Conv2d<2, 3>{}, Shape<2, 5, 4>{}, slice);
    check_layer_gradients(device, nn::Conv2d<2, 2, nn::Stride<3>, nn::Padding<1>>{},
                          Shape<1, 4, 6>{}, slice);
    check_layer_gradients(device, nn::Conv2d<1, 1>{}, Shape<1, 1, 1>{}, slice);
    check_layer_gradients(device, nn::Conv2d<3, 1, nn::Padding<1>, nn::Stride<2>>{},
                          Shape<2, 3, 2>{}, slice);
    check_layer_gradients(device, nn::Conv2d<1, 4, nn::Stride<2>>{}, Shape<1, 7, 5>{}, slice);
    check_layer_gradients(device, nn::Conv2d<1, 5, nn::Padding<2>>{}, Shape<1, 1, 3>{}, slice);
    // Padding over kernel.
    check_layer_gradients(device, nn::Conv2d{2, 2, 1, 3}, Shape<1, 2, 1>{}, slice);
  }
}

TEST_CASE_TEMPLATE("gradients of Conv2d with groups, dilation and rectangles", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::Conv2d<4, 3, nn::Groups<2>>{}, Shape<2, 4, 3>{}, slice);
    check_layer_gradients(device, nn::Conv2d<2, 3, nn::Groups<2>, nn::Padding<1>, nn::Stride<2>>{},
                          Shape<2, 4, 3>{}, slice);
    check_layer_gradients(device, nn::Conv2d<1, 2, nn::Dilation<2>, nn::Padding<1>>{},
                          Shape<1, 3, 4>{}, slice);
    check_layer_gradients(
        device, nn::Conv2d<2, 1, nn::KernelWidth<3>, nn::Stride<2, 1>, nn::Padding<0, 2>>{},
        Shape<1, 3, 2>{}, slice);
    check_layer_gradients(device, nn::Conv2d<2, 2, nn::PaddingSame, nn::Bias<false>>{},
                          Shape<1, 3, 2>{}, slice);
    check_layer_gradients(device, nn::Conv2d<1, 3, nn::PaddingSame, nn::Dilation<1, 2>>{},
                          Shape<1, 2, 3>{}, slice);
  }
}

TEST_CASE_TEMPLATE("Conv2d is PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  check_against_reference<float>(device, nn::Conv2d<3, 3>{}, Shape<2, 5, 4>{}, "conv2d_3x3");
  check_against_reference<double>(device, nn::Conv2d<3, 3>{}, Shape<2, 5, 4>{}, "conv2d_3x3");
  check_against_reference<float>(device, nn::Conv2d<2, 2, nn::Stride<3>, nn::Padding<1>>{},
                                 Shape<1, 4, 6>{}, "conv2d_2x2_stride3_padding1");
  check_against_reference<float>(device, nn::Conv2d<2, 1>{}, Shape<3, 1, 1>{}, "conv2d_1x1");
  check_against_reference<float>(device, nn::Conv2d{4, 5, 2, 2}, Shape<1, 7, 5>{},
                                 "conv2d_5x5_stride2_padding2");
}

TEST_CASE("sizes of a Conv2d in its node") {
  Lowering<void, void> builder(Sizes{3, 32, 16});
  const value_t y = nn::lower(builder, nn::Conv2d<6, 5, nn::Padding<2>, nn::Stride<3>>{},
                              GraphBuilder::input, Shape<3, 32, 16>{});
  const Graph graph = std::move(builder).finish(y);
  REQUIRE(graph.nodes[0].as<Conv2dOp>());
  CHECK(graph.nodes[0].as<Conv2dOp>()->geometry == square_convolution(3, 32, 16, 6, 5, 3, 2));
}

TEST_CASE("output and parameters of Conv2d") {
  using Static = nn::Conv2d<6, 5, nn::Padding<2>, nn::Stride<3>>;
  static_assert(std::is_same_v<decltype(Static{}.output(Shape<3, 32, 16>{})), Shape<6, 11, 6>>);
  static_assert(std::is_empty_v<Static>);
  CHECK(nn::Conv2d{6, 5, 3, 2}.output(Shape<3, 32, 16>{}).sizes() == Sizes{6, 11, 6});
  CHECK(nn::Conv2d{6, 5}.output(Shape<3, 32, 16>{}).sizes() == Sizes{6, 28, 12});
  for (const auto& parameters : {Static{}.parameters(Shape<3, 32, 16>{}),
                                 nn::Conv2d{6, 5, 3, 2}.parameters(Shape<3, 32, 16>{})}) {
    CHECK(parameters[0].name == "weight");
    CHECK(parameters[0].sizes == Sizes{6, 3, 5, 5});
    CHECK(parameters[1].name == "bias");
    CHECK(parameters[1].sizes == Sizes{6});
  }
}

TEST_CASE("a Conv2d that is not possible") {
  CHECK_THROWS_WITH_AS(
      nn::Conv2d(6, 5).output(Shape<3, 4, 32>{}),
      "gpunet::nn::Conv2d: the kernel (5) is larger than the padded image (4 x 32), use a smaller "
      "kernel, a larger image or Padding",
      Error);
  CHECK_THROWS_WITH_AS(nn::Conv2d(6, 5, 0).output(Shape<3, 8, 8>{}),
                       "gpunet::nn::Conv2d: 6 output channels, kernel 5, stride 0, padding 0 (want "
                       "at least 1, 1, 1, 0)",
                       Error);
  CHECK_THROWS_AS(nn::Conv2d(0, 5).output(Shape<3, 8, 8>{}), Error);
  CHECK_THROWS_AS(nn::Conv2d(6, 0).output(Shape<3, 8, 8>{}), Error);
  CHECK_THROWS_AS(nn::Conv2d(6, 5, 1, -1).output(Shape<3, 8, 8>{}), Error);
}

TEST_CASE("a Conv2d with options that is not possible") {
  const Shape six(Dim(index_t{6}), Dim<8>{}, Dim<8>{});
  CHECK_THROWS_WITH_AS((nn::Conv2d<8, 3, nn::Groups<4>>{}.output(six)),
                       "gpunet::nn::Conv2d: 4 groups of 6 input and 8 output channels (each group "
                       "has as many of them as "
                       "another), use Groups that divide both",
                       Error);
  const Shape low(Dim<4>{}, Dim(index_t{3}), Dim<8>{});
  CHECK_THROWS_WITH_AS((nn::Conv2d<8, 2, nn::KernelWidth<5>, nn::Dilation<3, 1>>{}.output(low)),
                       "gpunet::nn::Conv2d: the kernel (4 x 5) is larger than the padded image (3 "
                       "x 8), use a smaller "
                       "kernel, a larger image or Padding",
                       Error);
}

TEST_CASE("shapes, parameters and texts of Conv2d with options") {
  using Depthwise = nn::Conv2d<6, 3, nn::Groups<3>, nn::Padding<1>, nn::Stride<2>>;
  static_assert(std::is_same_v<decltype(Depthwise{}.output(Shape<3, 32, 15>{})), Shape<6, 16, 8>>);
  static_assert(
      std::is_same_v<decltype(nn::Conv2d<6, 4, nn::PaddingSame>{}.output(Shape<3, 5, 2>{})),
                     Shape<6, 5, 2>>);
  static_assert(std::is_empty_v<Depthwise>);
  CHECK(Depthwise{}.parameters(Shape<3, 32, 15>{})[0].sizes == Sizes{6, 1, 3, 3});
  using Same = nn::Conv2d<4, 3, nn::PaddingSame>;  // square: it has the kernels of Padding<1>
  Lowering<void, void> builder(Sizes{3, 8, 8});
  const value_t y = nn::lower(builder, Same{}, GraphBuilder::input, Shape<3, 8, 8>{});
  const Graph graph = std::move(builder).finish(y);
  REQUIRE(graph.nodes[0].as<Conv2dOp>());
  CHECK(graph.nodes[0].as<Conv2dOp>()->geometry == square_convolution(3, 8, 8, 4, 3, 1, 1));
  const nn::Sequential<
      nn::Input<8, 9, 9>, nn::Conv2d<8, 3, nn::Groups<8>>, Same, nn::Conv2d<4, 4, nn::PaddingSame>,
      nn::Conv2d<4, 3, nn::KernelWidth<2>, nn::Dilation<2>, nn::Padding<2, 0>, nn::Bias<false>>>
      net;
  CHECK(nn::to_string(net) ==
        "Sequential(\n"
        "  (0): Conv2d(8, 8, kernel_size=(3, 3), stride=(1, 1), groups=8)\n"
        "  (1): Conv2d(8, 4, kernel_size=(3, 3), stride=(1, 1), padding=same)\n"
        "  (2): Conv2d(4, 4, kernel_size=(4, 4), stride=(1, 1), padding=same)\n"
        "  (3): Conv2d(4, 4, kernel_size=(3, 2), stride=(1, 1), padding=(2, 0), dilation=(2, 2), "
        "bias=False)\n"
        ")");
}
