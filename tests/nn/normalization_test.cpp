#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/errors.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("gradients of LayerNorm, RMSNorm, GroupNorm and InstanceNorm2d", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  // With a small eps the gradient of rows of near numbers changes faster than finite differences
  // see.
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::LayerNorm<>{{.eps = 0.1}}, Shape<5>{}, slice);
    check_layer_gradients(device, nn::LayerNorm<>{{.eps = 0.1}}, Shape<3, 4>{}, slice);
    check_layer_gradients(device, nn::LayerNorm<2>{{.eps = 0.1, .bias = false}}, Shape<3, 2, 2>{},
                          slice);
    check_layer_gradients(device, nn::LayerNorm<3>{{.eps = 0.1, .elementwise_affine = false}},
                          Shape<3, 2, 2>{}, slice);
    check_layer_gradients(device, nn::RMSNorm<>{{.eps = 0.1}}, Shape<3, 4>{}, slice);
    check_layer_gradients(device, nn::RMSNorm<2>{{.eps = 0.1, .elementwise_affine = false}},
                          Shape<3, 4>{}, slice);
    check_layer_gradients(device, nn::GroupNorm<2>{{.eps = 0.1}}, Shape<4, 2, 2>{}, slice);
    check_layer_gradients(device, nn::GroupNorm<3>{{.eps = 0.1, .affine = false}}, Shape<6>{},
                          slice);
    check_layer_gradients(device, nn::InstanceNorm2d{{.eps = 0.1}}, Shape<2, 2, 3>{}, slice);
    check_layer_gradients(device, nn::InstanceNorm2d{{.eps = 0.1, .affine = true}},
                          Shape<2, 2, 3>{}, slice);
  }
}

TEST_CASE("normalization layers print as PyTorch's") {
  using Net = nn::Sequential<nn::Input<6, 3, 4>, nn::LayerNorm<2>, nn::LayerNorm<>, nn::RMSNorm<>,
                             nn::GroupNorm<2>, nn::InstanceNorm2d>;
  CHECK(to_string(Net{}) ==
        "Sequential(\n"
        "  (0): LayerNorm((3, 4), eps=1e-05, elementwise_affine=True, bias=True)\n"
        "  (1): LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)\n"
        "  (2): RMSNorm((4,), eps=None, elementwise_affine=True)\n"
        "  (3): GroupNorm(2, 6, eps=1e-05, affine=True, bias=True)\n"
        "  (4): InstanceNorm2d(6, eps=1e-05, momentum=0.1, affine=False, bias=False, "
        "track_running_stats=False)\n"
        ")");
}

TEST_CASE("groups that do not divide the channels, and eps below 0") {
  CHECK(error_of([] { nn::GroupNorm<3>{}.output(Shape<4, 2>{}); }) ==
        "gpunet::nn::GroupNorm: 4 channels in 3 groups (want a number of channels that the groups "
        "divide), change "
        "one");
  CHECK(error_of([] { nn::LayerNorm<>{{.eps = -1}}; }) ==
        "gpunet::nn::LayerNorm: eps -1 (want 0 or more)");
}

TEST_CASE_TEMPLATE("normalization of no elements, and of rows of equal numbers with eps 0", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  using Nothing = nn::Sequential<nn::Input<0, 4, 4>, nn::InstanceNorm2d, nn::GroupNorm<2>,
                                 nn::LayerNorm<>, nn::RMSNorm<3>>;
  Model<Nothing, D> nothing(device);
  CHECK(nothing(Tensor<float, D>(device, Sizes{2, 0, 4, 4})).to_vector().empty());
  for (const Slice& slice : test_slices<D>()) {
    LayerRun<float, D> run(device, nn::LayerNorm<>{{.eps = 0, .elementwise_affine = false}},
                           Shape<8>{}, slice);
    CHECK(run.forward(std::vector<float>(static_cast<std::size_t>(slice.count * 8), 3.0f)) ==
          std::vector<float>(static_cast<std::size_t>(slice.count * 8), 0.0f));
  }
}
