// Training steps with their reductions: in one call (on Cuda recorded, where the engine takes the
// memory of the GPU) and by hand.
#include <doctest/doctest.h>
#include <optional>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

#include "distributed/world.hpp"
#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/eager_step.hpp"

using namespace gpunet;
using distributed::DistributedDataParallel;

namespace {

nn::Value layers(nn::Value x) {
  x = flatten(relu(batch_norm(conv2d(x, 4, 3))));
  return linear(tanh(linear(x, 9)), 3);
}

// What a training of a few steps leaves: the losses, parameters, buffers. The first step and the
// last two are not reduced, because there are no other ranks.
template <class D>
std::vector<float> trained(D& device, bool in_one_call, double cap_mb) {
  constexpr index_t batch = 5;
  manual_seed(7);
  Network<D, float> net(device, layers, {2, 4, 4});
  std::optional<DistributedDataParallel<D, float>> ddp;
  nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(net, {.lr = 0.01});
  train::Step step(net, criterion, optimizer);
  std::vector<float> result;
  for (int i = 0; i < 8; ++i) {
    if (i == 1)
      ddp.emplace(net, world(),
                  distributed::DistributedDataParallelOptions{.bucket_cap_mb = cap_mb});
    if (i == 6) {
      if constexpr (!DeviceTraits<D>::has_host_memory)
        if (in_one_call && world().size() > 1)
          CHECK(step.recording(batch).recorded == world().takes_device_memory());
      ddp.reset();
    }
    const Tensor<float, D> x(
        device, {batch, 2, 4, 4},
        pattern<float>(batch * 32, 7, 11 * i + 3 * static_cast<int>(world().rank()), 31));
    const Tensor<label_t, D> y(device, {batch}, {0, 1, 2, static_cast<label_t>(i % 3), 1});
    if (in_one_call) {
      result.push_back(step(x, y).item());
      continue;
    }
    optimizer.zero_grad();
    auto loss = criterion(net(x), y);
    loss.backward();
    optimizer.step();
    result.push_back(loss.item());
  }
  const std::vector<float> buffers = to_vector(device, std::as_const(net).buffers());
  const std::vector<float> parameters = parameters_of(net);
  result.insert(result.end(), parameters.begin(), parameters.end());
  result.insert(result.end(), buffers.begin(), buffers.end());
  return result;
}

}  // namespace

TEST_CASE_TEMPLATE("a step with its reductions in one call is bitwise identical to its parts", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const double cap_mb : {25.0, 1e-6}) {
    CAPTURE(cap_mb);
    CHECK(same_bits(trained(device, true, cap_mb), trained(device, false, cap_mb)));
  }
}
