#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of Permute", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::Permute<1, 0>{}, Shape<3, 4>{}, slice);
    check_layer_gradients(device, nn::Permute<2, 0, 1>{}, Shape<3, 2, 4>{}, slice);
    check_layer_gradients(device, nn::Permute<1, 2, 0>{}, Shape<3, 2, 4>{}, slice);
    check_layer_gradients(device, nn::Permute<0, 2, 1>{}, Shape<2, 5, 3>{}, slice);
    check_layer_gradients(device, nn::Permute<2, 1, 0>{}, Shape<1, 2, 3>{}, slice);
    check_layer_gradients(device, nn::Permute<3, 1, 0, 2>{}, Shape<2, 3, 2, 2>{}, slice);
    check_layer_gradients(device, nn::Permute<6, 4, 2, 0, 1, 3, 5>{}, Shape<2, 1, 2, 2, 1, 2, 2>{},
                          slice);
  }
}

TEST_CASE_TEMPLATE("elements of a permutation", D, GPUNET_TEST_DEVICES) {
  LayerRun<float, D> run(test_device<D>(), nn::Permute<2, 0, 1>{}, Shape<2, 2, 3>{}, {1, 1, 1});
  CHECK(run.forward({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) ==
        std::vector<float>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});
}

TEST_CASE("a permutation that changes nothing is a view, and no elements are permuted") {
  LayerRun<float, Host> run(test_device<Host>(), nn::Permute<0, 1, 2>{}, Shape<2, 1, 3>{},
                            {1, 1, 1});
  CHECK(run.forward({1, 2, 3, 4, 5, 6}) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(run.backward({1, 2, 3, 4, 5, 6}).dx == std::vector<float>{1, 2, 3, 4, 5, 6});
  LayerRun<float, Host> none(test_device<Host>(), nn::Permute<1, 2, 0>{}, Shape<2, 0, 3>{},
                             {1, 1, 1});
  CHECK(none.forward({}).empty());
}

TEST_CASE("output and text of Permute") {
  static_assert(
      std::is_same_v<decltype(nn::Permute<2, 0, 1>{}.output(Shape<4, 5, 3>{})), Shape<3, 4, 5>>);
  const Shape dynamic(Dim(index_t{4}), Dim<5>{});
  CHECK(nn::Permute<1, 0>{}.output(dynamic).sizes() == Sizes{5, 4});
  const nn::Sequential<nn::Input<4, 5, 3>, nn::Permute<2, 0, 1>, nn::Flatten> net;
  CHECK(nn::to_string(net).find("(0): Permute(2, 0, 1)\n") != std::string::npos);
}
