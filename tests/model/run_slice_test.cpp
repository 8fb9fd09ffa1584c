#include <array>
#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>

#include "support/networks.hpp"

using namespace gpunet;

namespace {

// ReLUs below layers that can rectify, below one that cannot, and below none.
using Mixed = nn::Sequential<nn::Input<2, 12, 12>, nn::Conv2d<4, 3>, nn::ReLU, nn::MaxPool2d<3>,  //
                             nn::Conv2d<3, 2>, nn::ReLU, nn::Flatten,                             //
                             nn::Linear<9>, nn::ReLU, nn::Linear<4>, nn::Linear<3>, nn::ReLU>;

template <class Net, class D>
constexpr auto rectified = rectified_gradients<D, typename Model<Net, D, float>::FusedNet>();

}  // namespace

TEST_CASE("on Host layers rectify the gradients that they get") {
  CHECK(rectified<LeNet, Host> == std::array<bool, 6>{});
  CHECK(rectified<Mixed, Host> == std::array<bool, 7>{});
}

#if GPUNET_CUDA
TEST_CASE("on Cuda gradients are rectified where they are made, if the layer there can") {
  CHECK(rectified<LeNet, Cuda> == std::array{false, true, false, true, true, true});
  CHECK(rectified<Mixed, Cuda> == std::array{false, false, false, false, true, true, false});
}
#endif
