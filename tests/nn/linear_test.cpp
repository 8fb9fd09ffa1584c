#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/reference_check.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of Linear", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::Linear<3>{}, Shape<5>{}, slice);
    check_layer_gradients(device, nn::Linear<1>{}, Shape<1>{}, slice);
    check_layer_gradients(device, nn::Linear{7}, Shape<2>{}, slice);
    check_layer_gradients(device, nn::Linear<4>{}, Shape<3, 5>{}, slice);
    check_layer_gradients(device, nn::Linear<2, nn::Bias<false>>{}, Shape<2, 3, 4>{}, slice);
  }
}

TEST_CASE_TEMPLATE("Linear is PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  check_against_reference<float>(device, nn::Linear<3>{}, Shape<7>{}, "linear_7_3");
  check_against_reference<double>(device, nn::Linear<3>{}, Shape<7>{}, "linear_7_3");
  check_against_reference<float>(device, nn::Linear<1>{}, Shape<1>{}, "linear_1_1");
}

TEST_CASE("output and parameters of Linear") {
  static_assert(std::is_same_v<decltype(nn::Linear<3>{}.output(Shape<7>{})), Shape<3>>);
  static_assert(std::is_same_v<decltype(nn::Linear<3>{}.output(Shape<2, 4, 7>{})), Shape<2, 4, 3>>);
  static_assert(std::is_same_v<decltype(nn::Linear{3}.output(Shape<7>{})), Shape<dyn>>);
  static_assert(std::is_empty_v<nn::Linear<3>>);
  for (const auto& parameters :
       {nn::Linear<3>{}.parameters(Shape<7>{}), nn::Linear{3}.parameters(Shape<7>{})}) {
    CHECK(parameters[0].name == "weight");
    CHECK(parameters[0].sizes == Sizes{3, 7});
    CHECK(parameters[1].name == "bias");
    CHECK(parameters[1].sizes == Sizes{3});
  }
}

TEST_CASE("a Linear without outputs") {
  CHECK_THROWS_WITH_AS(nn::Linear{0}.output(Shape<7>{}),
                       "gpunet::nn::Linear: 0 outputs (want 1 or more)", Error);
  CHECK_THROWS_AS(nn::Linear{-4}.output(Shape<7>{}), Error);
}
