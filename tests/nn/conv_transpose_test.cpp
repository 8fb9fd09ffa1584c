#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of Conv1d, ConvTranspose1d and ConvTranspose2d", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::Conv1d<2, 3>{}, Shape<1, 5>{}, slice);
    check_layer_gradients(device, nn::Conv1d<2, 2, nn::Stride<3>, nn::Padding<1>, nn::Groups<2>>{},
                          Shape<2, 4>{}, slice);
    check_layer_gradients(device, nn::Conv1d<1, 2, nn::Dilation<3>, nn::PaddingSame>{},
                          Shape<2, 3>{}, slice);
    check_layer_gradients(device, nn::Conv1d{1, 1, 2}, Shape<1, 3>{}, slice);
    check_layer_gradients(device, nn::ConvTranspose1d<2, 3>{}, Shape<1, 3>{}, slice);
    check_layer_gradients(
        device, nn::ConvTranspose1d<2, 2, nn::Stride<3>, nn::OutputPadding<2>, nn::Groups<2>>{},
        Shape<2, 2>{}, slice);
    check_layer_gradients(
        device, nn::ConvTranspose1d<1, 4, nn::Stride<2>, nn::Padding<1>, nn::Bias<false>>{},
        Shape<1, 3>{}, slice);
    check_layer_gradients(device,
                          nn::ConvTranspose1d<1, 2, nn::Dilation<2>, nn::OutputPadding<1>>{},
                          Shape<1, 2>{}, slice);
    check_layer_gradients(device, nn::ConvTranspose2d<2, 2, nn::Stride<2>>{}, Shape<1, 2, 2>{},
                          slice);
    check_layer_gradients(device, nn::ConvTranspose2d<1, 3, nn::Padding<1>>{}, Shape<2, 2, 3>{},
                          slice);
    check_layer_gradients(device,
                          nn::ConvTranspose2d<2, 1, nn::KernelWidth<2>, nn::Stride<2, 1>,
                                              nn::Groups<2>, nn::OutputPadding<1, 0>>{},
                          Shape<2, 1, 2>{}, slice);
    check_layer_gradients(device, nn::ConvTranspose2d{1, 1, 3}, Shape<1, 1, 2>{}, slice);
  }
}

TEST_CASE("shapes and parameters of Conv1d, ConvTranspose1d and ConvTranspose2d") {
  using Row = nn::Conv1d<6, 5, nn::Stride<2>, nn::Padding<1>, nn::Groups<3>>;
  static_assert(std::is_same_v<decltype(Row{}.output(Shape<3, 9>{})), Shape<6, 4>>);
  static_assert(std::is_same_v<decltype(nn::Conv1d<6, 4, nn::PaddingSame>{}.output(Shape<3, 9>{})),
                               Shape<6, 9>>);
  CHECK(Row{}.parameters(Shape<3, 9>{})[0].sizes == Sizes{6, 1, 5});
  CHECK(nn::Conv1d(6, 5, 2, 1).output(Shape<3, 9>{}).sizes() == Sizes{6, 4});
  using Doubled =
      nn::ConvTranspose2d<4, 3, nn::Stride<2>, nn::Padding<1>, nn::OutputPadding<1>, nn::Groups<2>>;
  static_assert(std::is_same_v<decltype(Doubled{}.output(Shape<6, 5, 7>{})), Shape<4, 10, 14>>);
  static_assert(std::is_empty_v<Doubled>);
  CHECK(Doubled{}.parameters(Shape<6, 5, 7>{})[0].sizes == Sizes{6, 2, 3, 3});
  CHECK(Doubled{}.parameters(Shape<6, 5, 7>{})[1].sizes == Sizes{4});
  static_assert(
      std::is_same_v<decltype(nn::ConvTranspose1d<4, 2, nn::Stride<2>>{}.output(Shape<6, 5>{})),
                     Shape<4, 10>>);
  CHECK(nn::ConvTranspose1d(4, 2, 2).output(Shape<6, 5>{}).sizes() == Sizes{4, 10});
}

TEST_CASE("Conv1d, ConvTranspose1d and ConvTranspose2d are printed as by PyTorch") {
  const nn::Sequential<
      nn::Input<4, 9>, nn::Conv1d<8, 3, nn::Padding<1>, nn::Groups<4>>,
      nn::Conv1d<4, 2, nn::PaddingSame, nn::Dilation<2>, nn::Bias<false>>,
      nn::ConvTranspose1d<4, 3, nn::Stride<2>, nn::Padding<1>, nn::OutputPadding<1>>>
      rows;
  CHECK(nn::to_string(rows) ==
        "Sequential(\n"
        "  (0): Conv1d(4, 8, kernel_size=(3,), stride=(1,), padding=(1,), groups=4)\n"
        "  (1): Conv1d(8, 4, kernel_size=(2,), stride=(1,), padding=same, dilation=(2,), "
        "bias=False)\n"
        "  (2): ConvTranspose1d(4, 4, kernel_size=(3,), stride=(2,), padding=(1,), "
        "output_padding=(1,))\n"
        ")");
  const nn::Sequential<
      nn::Input<4, 5, 5>, nn::ConvTranspose2d<8, 2, nn::Stride<2>>,
      nn::ConvTranspose2d<2, 3, nn::Stride<2>, nn::Padding<1>, nn::OutputPadding<1>, nn::Groups<2>,
                          nn::Dilation<2>, nn::Bias<false>>>
      images;
  CHECK(nn::to_string(images) ==
        "Sequential(\n"
        "  (0): ConvTranspose2d(4, 8, kernel_size=(2, 2), stride=(2, 2))\n"
        "  (1): ConvTranspose2d(8, 2, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), "
        "dilation=(2, 2), "
        "output_padding=(1, 1), groups=2, bias=False)\n"
        ")");
}

TEST_CASE("a Conv1d, a ConvTranspose1d and a ConvTranspose2d that are not possible") {
  CHECK_THROWS_WITH_AS(nn::Conv1d(6, 5).output(Shape<3, 4>{}),
                       "gpunet::nn::Conv1d: the kernel (5) is larger than the padded length (4), "
                       "use a smaller kernel, "
                       "longer inputs or Padding",
                       Error);
  CHECK_THROWS_WITH_AS(nn::ConvTranspose1d(6, 1, 1, 3).output(Shape<3, 4>{}),
                       "gpunet::nn::ConvTranspose1d: the output would have length -2 (want at "
                       "least 1), use less Padding",
                       Error);
  CHECK_THROWS_WITH_AS(nn::ConvTranspose2d(6, 1, 1, 2).output(Shape<3, 4, 9>{}),
                       "gpunet::nn::ConvTranspose2d: the output would have 0 x 5 pixels (want at "
                       "least 1 x 1), use less "
                       "Padding",
                       Error);
  CHECK_THROWS_AS(nn::Conv1d(6, 5, 0).output(Shape<3, 8>{}), Error);
  CHECK_THROWS_AS(nn::ConvTranspose2d(index_t{1} << 40, 2).output(Shape<3, 8, 8>{}), Error);
}

TEST_CASE_TEMPLATE("a network with a depthwise and a transposed convolution learns", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  using Net = nn::Sequential<nn::Input<2, 2, 2>, nn::Conv2d<2, 3, nn::Padding<1>, nn::Groups<2>>,
                             nn::BatchNorm2d, nn::Tanh, nn::ConvTranspose2d<1, 2, nn::Stride<2>>,
                             nn::Flatten, nn::Linear<2>>;
  check_network_gradients(device, Net{}, 3, nn::CrossEntropyLoss{});
}
