#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of layers of volumes", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::Conv3d<2, 2>{}, Shape<1, 3, 2, 3>{}, slice);
    check_layer_gradients(
        device, nn::Conv3d<2, 1, nn::KernelWidth<2>, nn::Stride<2, 1, 1>, nn::Groups<2>>{},
        Shape<2, 3, 1, 2>{}, slice);
    check_layer_gradients(device, nn::ConvTranspose3d<2, 2, nn::Stride<2, 1, 2>>{},
                          Shape<1, 2, 1, 2>{}, slice);
    check_layer_gradients(device, nn::Conv3d<1, 2, nn::Padding<1>, nn::PaddingReflect>{},
                          Shape<1, 2, 3, 2>{}, slice);
    check_layer_gradients(device, nn::MaxPool3d<2>{}, Shape<2, 3, 2, 4>{}, slice);
    check_layer_gradients(device, nn::AvgPool3d<2, nn::Stride<1>>{}, Shape<2, 3, 2, 3>{}, slice);
  }
}

TEST_CASE("shapes and parameters of layers of volumes") {
  using Strided = nn::Conv3d<6, 3, nn::Stride<1, 2, 2>, nn::Padding<1>, nn::Groups<3>>;
  static_assert(std::is_same_v<decltype(Strided{}.output(Shape<3, 4, 9, 8>{})), Shape<6, 4, 5, 4>>);
  static_assert(std::is_empty_v<Strided>);
  CHECK(Strided{}.parameters(Shape<3, 4, 9, 8>{})[0].sizes == Sizes{6, 1, 3, 3, 3});
  using Flat = nn::Conv3d<6, 1, nn::KernelHeight<5>, nn::KernelWidth<3>>;
  CHECK(Flat{}.parameters(Shape<3, 4, 9, 8>{})[0].sizes == Sizes{6, 3, 1, 5, 3});
  static_assert(
      std::is_same_v<decltype(nn::Conv3d<2, 4, nn::PaddingSame>{}.output(Shape<3, 4, 9, 8>{})),
                     Shape<2, 4, 9, 8>>);
  CHECK(nn::Conv3d(6, 3, 2, 1).output(Shape<3, 4, 9, 8>{}).sizes() == Sizes{6, 2, 5, 4});
  using Doubled = nn::ConvTranspose3d<4, 3, nn::Stride<2>, nn::Padding<1>, nn::OutputPadding<1>>;
  static_assert(
      std::is_same_v<decltype(Doubled{}.output(Shape<6, 2, 5, 7>{})), Shape<4, 4, 10, 14>>);
  CHECK(Doubled{}.parameters(Shape<6, 2, 5, 7>{})[0].sizes == Sizes{6, 4, 3, 3, 3});
  static_assert(
      std::is_same_v<decltype(nn::MaxPool3d<1, nn::KernelHeight<2>, nn::KernelWidth<3>>{}.output(
                         Shape<6, 2, 5, 7>{})),
                     Shape<6, 2, 2, 2>>);
}

TEST_CASE("layers of volumes are printed as by PyTorch") {
  const nn::Sequential<
      nn::Input<4, 5, 6, 7>, nn::Conv3d<8, 3, nn::Padding<1>, nn::PaddingCircular, nn::Groups<4>>,
      nn::BatchNorm3d,
      nn::Conv3d<4, 1, nn::KernelHeight<3>, nn::KernelWidth<3>, nn::Stride<1, 2, 2>,
                 nn::Padding<0, 1, 1>, nn::Bias<false>>,
      nn::ConvTranspose3d<4, 3, nn::Stride<2>, nn::Padding<1>, nn::OutputPadding<1>>,
      nn::MaxPool3d<2>, nn::AvgPool3d<1, nn::KernelHeight<2>, nn::KernelWidth<2>>,
      nn::AdaptiveAvgPool3d<2, 1, 1>>
      volumes;
  CHECK(nn::to_string(volumes) ==
        "Sequential(\n"
        "  (0): Conv3d(4, 8, kernel_size=(3, 3, 3), stride=(1, 1, 1), padding=(1, 1, 1), "
        "groups=4, padding_mode=circular)\n"
        "  (1): BatchNorm3d(8, eps=1e-05, momentum=0.1, affine=True, bias=True, "
        "track_running_stats=True)\n"
        "  (2): Conv3d(8, 4, kernel_size=(1, 3, 3), stride=(1, 2, 2), padding=(0, 1, 1), "
        "bias=False)\n"
        "  (3): ConvTranspose3d(4, 4, kernel_size=(3, 3, 3), stride=(2, 2, 2), padding=(1, 1, 1), "
        "output_padding=(1, 1, 1))\n"
        "  (4): MaxPool3d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)\n"
        "  (5): AvgPool3d(kernel_size=(1, 2, 2), stride=(1, 2, 2), padding=0)\n"
        "  (6): AdaptiveAvgPool3d(output_size=(2, 1, 1))\n"
        ")");
}

TEST_CASE("layers of volumes that are not possible") {
  CHECK_THROWS_WITH_AS(
      nn::Conv3d(6, 5).output(Shape<3, 4, 9, 9>{}),
      "gpunet::nn::Conv3d: the kernel (5 x 5 x 5) is larger than the padded volume "
      "(4 x 9 x 9), use a smaller kernel, a larger volume or Padding",
      Error);
  CHECK_THROWS_WITH_AS(nn::ConvTranspose3d(6, 1, 1, 2).output(Shape<3, 4, 9, 5>{}),
                       "gpunet::nn::ConvTranspose3d: the output would have 0 x 5 x 1 voxels (want "
                       "at least 1 x 1 x 1), use less Padding",
                       Error);
  CHECK_THROWS_WITH_AS(
      nn::Conv3d(1, 1).output(
          Shape(Dim(index_t{1} << 20), Dim<1>{}, Dim(index_t{1} << 20), Dim<2>{})),
      "gpunet::nn::Conv3d: a volume of shape [1048576, 1, 1048576, 2] with padding 0 (want 2^40 "
      "numbers or fewer, no memory holds more), give smaller sizes",
      Error);
  CHECK_THROWS_WITH_AS(
      nn::MaxPool3d<3>{}.output(Shape(Dim<2>{}, Dim(index_t{2}), Dim<3>{}, Dim<4>{})),
      "gpunet::nn::MaxPool3d: the kernel (3 x 3 x 3) is larger than the padded volume (2 x 3 x 4), "
      "use a smaller kernel or a larger volume",
      Error);
  using Wide = nn::Conv3d<6, 5, nn::Padding<2>, nn::PaddingReflect>;
  CHECK_THROWS_AS(Wide{}.output(Shape(Dim<3>{}, Dim(index_t{2}), Dim<9>{}, Dim<9>{})), Error);
  CHECK_THROWS_AS(nn::Conv3d(6, 5, 0).output(Shape<3, 8, 8, 8>{}), Error);
}

TEST_CASE_TEMPLATE("a network of volumes learns", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  using Net = nn::Sequential<nn::Input<1, 2, 4, 2>, nn::Conv3d<2, 2, nn::PaddingSame>,
                             nn::BatchNorm3d, nn::Tanh, nn::MaxPool3d<1, nn::KernelHeight<2>>,
                             nn::ConvTranspose3d<1, 2, nn::Stride<2>>, nn::AvgPool3d<2>,
                             nn::Flatten, nn::Linear<2>>;
  check_network_gradients(device, Net{}, 3, nn::CrossEntropyLoss{});
}
