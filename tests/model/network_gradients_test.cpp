#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"

using namespace gpunet;

namespace {

// Few parameters: the check runs the network four times for each.
using Tiny = nn::Sequential<nn::Input<1, 5, 4>, nn::Conv2d<2, 2>, nn::ReLU, nn::MaxPool2d<2>, nn::Flatten,
                            nn::Named<"out", nn::Linear<3>>>;
using Pictures = nn::Sequential<nn::Input<2, 4, 4>, nn::Flatten, nn::Linear<5>, nn::Softmax, nn::Linear<2>>;
using Overlapping = nn::Sequential<nn::Input<1, 6, 5>, nn::Conv2d<2, 3, nn::Padding<1>, nn::Stride<2>>,
                                   nn::MaxPool2d<2, nn::Stride<1>>, nn::Conv2d<3, 2>, nn::Flatten>;

}  // namespace

TEST_CASE_TEMPLATE("gradients of whole networks", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  check_network_gradients(device, Tiny{}, 3, nn::CrossEntropyLoss{});
  if constexpr (std::same_as<D, Host>)
    for (index_t batch : {1, 2, 3, 5, 16, 21}) {
      check_network_gradients(device, Tiny{}, batch, nn::CrossEntropyLoss{});
      check_network_gradients(device, Pictures{}, batch, nn::CrossEntropyLoss{});
      check_network_gradients(device, Overlapping{}, batch, nn::CrossEntropyLoss{});
    }
}
