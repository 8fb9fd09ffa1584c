#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/networks.hpp"

using namespace gpunet;

namespace {

struct Trace {
  std::vector<float> outputs, losses, gradients, parameters;  // of all steps, one after another
};

// Three steps on random batches, the same on every device.
template <class Net, class D>
Trace run_steps(index_t batch) {
  D& device = test_device<D>();
  manual_seed(21);
  Model<Net, D> net(device);
  const nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.05f, .momentum = 0.9f, .weight_decay = 0.01f});
  Generator generator(21);
  Trace trace;
  const auto append = [](std::vector<float>& all, const std::vector<float>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  for (int i = 0; i < 3; ++i) {
    const TestBatch<float, D> data(device, Net{}, batch, generator);
    optimizer.zero_grad();
    const auto output = net(data.inputs);
    append(trace.outputs, output.tensor().to_vector());
    auto loss = criterion(output, data.labels);
    trace.losses.push_back(loss.item());
    loss.backward();
    append(trace.gradients, gradients_of(net));
    optimizer.step();
    append(trace.parameters, parameters_of(net));
  }
  return trace;
}

template <class Net>
void check_agreement(index_t batch) {
  CAPTURE(batch);
  const Trace host = run_steps<Net, Host>(batch), cuda = run_steps<Net, Cuda>(batch);
  CHECK(relative_error(host.outputs, cuda.outputs) < 1e-5);
  CHECK(relative_error(host.losses, cuda.losses) < 1e-5);
  CHECK(relative_error(host.gradients, cuda.gradients) < 1e-5);
  CHECK(relative_error(host.parameters, cuda.parameters) < 1e-5);
}

}  // namespace

TEST_CASE("Host and Cuda train a small network alike") {
  for (index_t batch : {1, 3, 4, 17})
    check_agreement<SmallNet>(batch);
}

TEST_CASE("Host and Cuda train LeNet alike") {
  check_agreement<LeNet>(4);
}

#endif
