#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("Reshape and Unflatten are another shape of the same memory", D,
                   GPUNET_TEST_DEVICES) {
  for (const Slice& slice : test_slices<D>()) {
    LayerRun<float, D> run(test_device<D>(), nn::Reshape<3, 2>{}, Shape<6>{}, slice);
    std::vector<float> x(static_cast<std::size_t>(slice.count * 6));
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i);
    CHECK(run.forward(x) == x);
    CHECK(run.backward(x).dx == x);
  }
  // Between layers that are none.
  const nn::Sequential<nn::Input<6>, nn::Linear<8>, nn::Unflatten<2, 2, 2>, nn::Conv2d<3, 2>,
                       nn::Reshape<-1>>
      net;
  check_network_gradients(test_device<D>(), net, 3, nn::CrossEntropyLoss{});
}

TEST_CASE("output of Reshape and Unflatten") {
  static_assert(
      std::is_same_v<decltype(nn::Reshape<4, 6>{}.output(Shape<2, 3, 4>{})), Shape<4, 6>>);
  static_assert(
      std::is_same_v<decltype(nn::Reshape<4, -1>{}.output(Shape<2, 3, 4>{})), Shape<4, 6>>);
  static_assert(std::is_same_v<decltype(nn::Unflatten<2, 3>{}.output(Shape<6>{})), Shape<2, 3>>);
  static_assert(
      std::is_same_v<decltype(nn::Unflatten<2, -1, 2>{}.output(Shape<12>{})), Shape<2, 3, 2>>);
  static_assert(nn::Unflatten<2, 3>{}.output(Shape<6>{}).numel() == 6);
  const Shape dynamic(Dim(index_t{6}));
  CHECK(nn::Unflatten<2, 3>{}.output(dynamic).sizes() == Sizes{2, 3});
  CHECK(nn::Reshape<2, -1>{}.output(dynamic).sizes() == Sizes{2, 3});
}

TEST_CASE("Unflatten is printed as by PyTorch") {
  const nn::Sequential<nn::Input<6>, nn::Unflatten<2, 3>, nn::Reshape<3, 2>, nn::Reshape<-1>,
                       nn::Unflatten<6>>
      net;
  CHECK(nn::to_string(net) ==
        "Sequential(\n"
        "  (0): Unflatten(dim=1, unflattened_size=(2, 3))\n"
        "  (1): Reshape(3, 2)\n"
        "  (2): Reshape(6)\n"
        "  (3): Unflatten(dim=1, unflattened_size=(6,))\n"
        ")");
}

TEST_CASE("run-time shapes that Reshape refuses") {
  const Shape dynamic(Dim(index_t{7}));
  CHECK_THROWS_WITH_AS(
      (nn::Unflatten<2, 3>{}.output(dynamic)),
      "gpunet::nn::Reshape, Unflatten: a sample has 7 elements (want 6), give sizes with the same "
      "product",
      Error);
  CHECK_THROWS_WITH_AS(
      (nn::Reshape<2, -1>{}.output(dynamic)),
      "gpunet::nn::Reshape, Unflatten: a sample has 7 elements (want a multiple of 2), give sizes "
      "with the same product",
      Error);
}
