#include <limits>

#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of AvgPool2d", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::AvgPool2d<2>{}, Shape<2, 5, 4>{}, slice);
    check_layer_gradients(device, nn::AvgPool2d<3, nn::Stride<1>, nn::Padding<1>>{},
                          Shape<1, 3, 5>{}, slice);
    check_layer_gradients(device, nn::AvgPool2d<3, nn::Stride<2>>{}, Shape<1, 7, 6>{}, slice);
    check_layer_gradients(device, nn::AvgPool2d<2, nn::Stride<3>>{}, Shape<3, 2, 6>{}, slice);
    check_layer_gradients(device, nn::AvgPool2d<1>{}, Shape<2, 1, 1>{}, slice);
    check_layer_gradients(device, nn::AvgPool2d<4>{}, Shape<2, 4, 4>{}, slice);
    check_layer_gradients(device, nn::AvgPool2d<4, nn::Padding<2>>{}, Shape<1, 1, 2>{}, slice);
    check_layer_gradients(
        device, nn::AvgPool2d<3, nn::KernelWidth<2>, nn::Stride<2, 1>, nn::Padding<1, 0>>{},
        Shape<2, 6, 5>{}, slice);
    check_layer_gradients(device,
                          nn::AvgPool2d<3, nn::Stride<2>, nn::Padding<1>, nn::CeilMode<true>>{},
                          Shape<2, 4, 6>{}, slice);
    check_layer_gradients(
        device, nn::AvgPool2d<3, nn::Stride<1>, nn::Padding<1>, nn::CountIncludePad<false>>{},
        Shape<1, 3, 5>{}, slice);
    check_layer_gradients(device,
                          nn::AvgPool1d<4, nn::Stride<3>, nn::Padding<2>, nn::CeilMode<true>>{},
                          Shape<2, 9>{}, slice);
    check_layer_gradients(device, nn::AdaptiveAvgPool1d<1>{}, Shape<3, 5>{}, slice);
    check_layer_gradients(device, nn::AdaptiveAvgPool1d<4>{}, Shape<2, 7>{}, slice);
  }
}

TEST_CASE_TEMPLATE("gradients of AdaptiveAvgPool2d", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::AdaptiveAvgPool2d<1, 1>{}, Shape<3, 5, 4>{}, slice);
    check_layer_gradients(device, nn::AdaptiveAvgPool2d<2, 3>{}, Shape<2, 5, 7>{}, slice);
    check_layer_gradients(device, nn::AdaptiveAvgPool2d<3, 2>{}, Shape<1, 6, 4>{}, slice);
    check_layer_gradients(device, nn::AdaptiveAvgPool2d<4, 1>{}, Shape<1, 3, 2>{}, slice);
    check_layer_gradients(device, nn::AdaptiveAvgPool2d<5, 5>{}, Shape<2, 2, 3>{}, slice);
    check_layer_gradients(device, nn::AdaptiveAvgPool2d<1, 1>{}, Shape<2, 1, 1>{}, slice);
  }
}

TEST_CASE_TEMPLATE("averages of values that are not finite, and of a large image", D,
                   GPUNET_TEST_DEVICES) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              inf = std::numeric_limits<float>::infinity();
  std::vector<Slice> slices{{1, 1, 1}};
  if constexpr (std::same_as<D, Host>) slices = {{1, 1, 1}, {1, 1, 4}, {1, 1, 16}};
  for (const Slice& slice : slices) {
    LayerRun<float, D> run(test_device<D>(), nn::AdaptiveAvgPool2d<1, 1>{}, Shape<4, 1, 2>{},
                           slice);
    const auto y = run.forward({nan, 1, -inf, inf, inf, 2, 3, 5});
    CHECK(std::isnan(y[0]));
    CHECK(std::isnan(y[1]));
    CHECK(y[2] == inf);
    CHECK(y[3] == 4);
    CHECK(run.backward({1, 2, 4, 8}).dx == std::vector<float>{0.5, 0.5, 1, 1, 2, 2, 4, 4});
    LayerRun<float, D> large(test_device<D>(), nn::AdaptiveAvgPool2d<1, 1>{}, Shape<3, 200, 300>{},
                             slice);
    CHECK(large.forward(std::vector<float>(3 * 200 * 300, 0.75f)) == std::vector<float>(3, 0.75f));
  }
}

TEST_CASE("output of AvgPool2d and AdaptiveAvgPool2d") {
  static_assert(
      std::is_same_v<decltype(nn::AvgPool2d<2>{}.output(Shape<6, 29, 28>{})), Shape<6, 14, 14>>);
  using Overlapping = nn::AvgPool2d<3, nn::Padding<1>, nn::Stride<2>>;
  static_assert(
      std::is_same_v<decltype(Overlapping{}.output(Shape<6, 28, 27>{})), Shape<6, 14, 14>>);
  static_assert(std::is_same_v<decltype(nn::AdaptiveAvgPool2d<3, 7>{}.output(Shape<6, 28, 2>{})),
                               Shape<6, 3, 7>>);
  const Shape dynamic(Dim<6>{}, Dim(index_t{29}), Dim<28>{});
  CHECK(nn::AvgPool2d<2>{}.output(dynamic).sizes() == Sizes{6, 14, 14});
  static_assert(
      std::is_same_v<decltype(nn::AdaptiveAvgPool2d<1, 1>{}.output(dynamic)), Shape<6, 1, 1>>);
}

TEST_CASE("average poolings are printed as by PyTorch") {
  const nn::Sequential<nn::Input<2, 9, 9>, nn::AvgPool2d<2>,
                       nn::AvgPool2d<3, nn::Stride<2>, nn::Padding<1>>, nn::AdaptiveAvgPool2d<3, 7>,
                       nn::AdaptiveAvgPool2d<1, 1>>
      net;
  CHECK(nn::to_string(net) ==
        "Sequential(\n"
        "  (0): AvgPool2d(kernel_size=2, stride=2, padding=0)\n"
        "  (1): AvgPool2d(kernel_size=3, stride=2, padding=1)\n"
        "  (2): AdaptiveAvgPool2d(output_size=(3, 7))\n"
        "  (3): AdaptiveAvgPool2d(output_size=(1, 1))\n"
        ")");
  using Rectangular =
      nn::AvgPool2d<3, nn::KernelWidth<2>, nn::Stride<2, 1>, nn::Padding<1, 0>, nn::CeilMode<true>>;
  CHECK(nn::to_string(nn::Sequential<nn::Input<2, 9, 9>, Rectangular>{}) ==
        "Sequential(\n"
        "  (0): AvgPool2d(kernel_size=(3, 2), stride=(2, 1), padding=(1, 0))\n"
        ")");
  const nn::Sequential<nn::Input<2, 9>, nn::AvgPool1d<3, nn::Stride<2>, nn::Padding<1>>,
                       nn::AdaptiveAvgPool1d<3>>
      rows;
  CHECK(nn::to_string(rows) ==
        "Sequential(\n"
        "  (0): AvgPool1d(kernel_size=(3,), stride=(2,), padding=(1,))\n"
        "  (1): AdaptiveAvgPool1d(output_size=3)\n"
        ")");
}

TEST_CASE("images that average poolings refuse") {
  const Shape small(Dim<6>{}, Dim(index_t{2}), Dim<28>{});
  CHECK_THROWS_WITH_AS(
      nn::AvgPool2d<3>{}.output(small),
      "gpunet::nn::AvgPool2d: the kernel (3) is larger than the padded image (2 x 28), use a "
      "smaller kernel or a larger image",
      Error);
  const Shape huge(Dim(index_t{1} << 20), Dim(index_t{1} << 20), Dim(index_t{2}));
  CHECK_THROWS_AS(nn::AvgPool2d<2>{}.output(huge), Error);
  CHECK_THROWS_AS((nn::AdaptiveAvgPool2d<1, 1>{}.output(huge)), Error);
  const Shape many(Dim(index_t{1} << 40), Dim(index_t{1}), Dim(index_t{1}));
  CHECK_THROWS_AS((nn::AdaptiveAvgPool2d<2, 1>{}.output(many)), Error);
}
