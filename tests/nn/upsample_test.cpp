#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"

using namespace gpunet;

namespace {

using Interpolated = nn::Upsample<2, nn::Bilinear>;
template <index_t factor>
using Aligned = nn::Upsample<factor, nn::Bilinear, nn::AlignCorners<true>>;

}  // namespace

TEST_CASE_TEMPLATE("gradients of Upsample", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::Upsample<2>{}, Shape<2, 3, 4>{}, slice);
    check_layer_gradients(device, nn::Upsample<3>{}, Shape<1, 2, 2>{}, slice);
    check_layer_gradients(device, nn::Upsample<1>{}, Shape<2, 2, 3>{}, slice);
    check_layer_gradients(device, nn::Upsample<4>{}, Shape<2, 1, 1>{}, slice);
  }
}

TEST_CASE_TEMPLATE("gradients of bilinear Upsample", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, Interpolated{}, Shape<2, 3, 4>{}, slice);
    check_layer_gradients(device, Interpolated{}, Shape<1, 1, 5>{}, slice);
    check_layer_gradients(device, nn::Upsample<3, nn::Bilinear>{}, Shape<1, 2, 4>{}, slice);
    check_layer_gradients(device, nn::Upsample<1, nn::Bilinear>{}, Shape<1, 3, 2>{}, slice);
    check_layer_gradients(device, Aligned<2>{}, Shape<2, 3, 4>{}, slice);
    check_layer_gradients(device, Aligned<3>{}, Shape<1, 1, 2>{}, slice);
    check_layer_gradients(device, Aligned<1>{}, Shape<1, 1, 3>{}, slice);
  }
}

TEST_CASE_TEMPLATE("elements of a larger image", D, GPUNET_TEST_DEVICES) {
  const auto row = [&](const auto& layer) {
    LayerRun<float, D> run(test_device<D>(), layer, Shape<1, 1, 2>{}, {1, 1, 1});
    std::vector<float> y = run.forward({4, 8});
    y.resize(y.size() / 2);  // the rows are equal
    return y;
  };
  CHECK(row(nn::Upsample<2>{}) == std::vector<float>{4, 4, 8, 8});
  CHECK(row(Interpolated{}) == std::vector<float>{4, 5, 7, 8});
  LayerRun<float, D> aligned(test_device<D>(), Aligned<2>{}, Shape<1, 1, 2>{}, {1, 1, 1});
  const std::vector<float> y = aligned.forward({0, 3});
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(y[i] == doctest::Approx(static_cast<float>(i)));
}

TEST_CASE("output of Upsample") {
  static_assert(
      std::is_same_v<decltype(nn::Upsample<2>{}.output(Shape<3, 4, 5>{})), Shape<3, 8, 10>>);
  static_assert(std::is_same_v<decltype(Aligned<3>{}.output(Shape<3, 4, 5>{})), Shape<3, 12, 15>>);
  const Shape dynamic(Dim<2>{}, Dim(index_t{3}), Dim<4>{});
  CHECK(Interpolated{}.output(dynamic).sizes() == Sizes{2, 6, 8});
  const Shape huge(Dim(index_t{1} << 39), Dim(index_t{1}), Dim(index_t{1}));
  CHECK_THROWS_AS(nn::Upsample<2>{}.output(huge), Error);
}

TEST_CASE("Upsample is printed as by PyTorch") {
  const nn::Sequential<nn::Input<2, 3, 3>, nn::Upsample<2>, nn::Upsample<3, nn::Bilinear>,
                       Aligned<2>>
      net;
  CHECK(nn::to_string(net) ==
        "Sequential(\n"
        "  (0): Upsample(scale_factor=2.0, mode='nearest')\n"
        "  (1): Upsample(scale_factor=3.0, mode='bilinear')\n"
        "  (2): Upsample(scale_factor=2.0, mode='bilinear')\n"
        ")");
}

TEST_CASE("large images are moved by any number of threads alike") {
  Host alone({.threads = 1}), four({.threads = 4});
  const auto check = [&](const auto& layer, auto in) {
    for (const Slice& slice : {Slice{1, 1, 1}, Slice{3, 1, 4}, Slice{5, 5, 1}}) {
      Generator generator(1);
      LayerRun<float, Host> one(alone, layer, in, slice), several(four, layer, in, slice);
      const std::vector<float> x = random_values<float>(slice.count * one.in_features(), generator);
      const std::vector<float> dy =
          random_values<float>(slice.count * one.out_features(), generator);
      CHECK(one.forward(x) == several.forward(x));
      CHECK(one.backward(dy).dx == several.backward(dy).dx);
    }
  };
  check(nn::Upsample<2>{}, Shape<3, 200, 150>{});
  check(nn::Upsample<2, nn::Bilinear>{}, Shape<3, 200, 150>{});
  check(nn::Permute<1, 2, 0>{}, Shape<30, 100, 150>{});
  check(nn::ZeroPad2d<3>{}, Shape<10, 200, 150>{});
}
