#include <cstring>
#include <doctest/doctest.h>
#include <stdexcept>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/gpunet.hpp>

#if GPUNET_CUDA
#include <gpunet/device/cuda/handle.cuh>
#endif

#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "support/networks.hpp"

using namespace gpunet;

TEST_CASE("nothing is recorded on Host") {
  Model<SmallNet, Host> net(test_device<Host>());
  optim::SGD optimizer(net, {.lr = 0.1});
  train::Step step(net, nn::CrossEntropyLoss{}, optimizer);
  Generator generator(1);
  const TestBatch<float, Host> data(test_device<Host>(), SmallNet{}, 3, generator);
  for (int i = 0; i < 3; ++i)
    step(data.inputs, data.labels);
  CHECK(!step.recording(3).recorded);
  CHECK(step.recording(3).reason == "nothing is recorded on cpu");
}

#if GPUNET_CUDA

namespace {

constexpr index_t disturbed_batch = 5;
constexpr const char* not_yet = "not yet: the second step on batches of this size is recorded";

// What a layer of a program may do in a step, although no recorded step can contain it.
enum class Disturbance {
  wait,
  wait_unchecked,
  allocate,
  tensor,
  copy_from_host,
  join,
  fork,
  exception
};
constexpr Disturbance disturbances[] = {Disturbance::wait,           Disturbance::wait_unchecked,
                                        Disturbance::allocate,       Disturbance::tensor,
                                        Disturbance::copy_from_host, Disturbance::join,
                                        Disturbance::fork,           Disturbance::exception};

// y = x, with a disturbance in batches of five.
struct Disturbed {
  Disturbance disturbance = Disturbance::wait;
  int* attempts = nullptr;          // to record such a batch
  const bool* is_broken = nullptr;  // whether such a batch fails, recorded or not
  float* aside = nullptr;           // memory that only the other stream uses

  constexpr auto output(auto in) const { return in; }

  template <class T>
  void forward(Cuda& device, const ForwardPass<T>& pass) const {
    if (pass.slice.samples() == disturbed_batch) {
      *attempts += device.is_recording();
      if (*is_broken) device.allocate(std::size_t{1} << 50);
      disturb(device, pass.y);
    }
    device.copy(pass.y, pass.x, static_cast<std::size_t>(pass.in_elements()) * sizeof(T));
  }
  template <class T>
  void backward(Cuda& device, const BackwardPass<T>& pass) const {
    device.copy(pass.dx, pass.dy, static_cast<std::size_t>(pass.in_elements()) * sizeof(T));
  }

 private:
  template <class T>
  void disturb(Cuda& device, T* y) const {
    const cudaStream_t stream = device.stream(), other = device.copy_stream();
    const detail::Event event = detail::make_event();
    const T number{};
    void* memory = nullptr;
    switch (disturbance) {
      case Disturbance::wait:
        check(cudaStreamSynchronize(stream));
        break;
      case Disturbance::wait_unchecked:
        static_cast<void>(cudaStreamSynchronize(stream));
        break;
      case Disturbance::allocate:
        check(cudaMalloc(&memory, 64));
        check(cudaFree(memory));
        break;
      case Disturbance::tensor:
        Tensor<T, Cuda>(device, {16});
        break;
      case Disturbance::copy_from_host:
        device.upload(y, &number, sizeof number);
        break;
      case Disturbance::join:  // waits for work outside
        check(cudaEventRecord(event.get(), other));
        check(cudaStreamWaitEvent(stream, event.get(), 0));
        break;
      case Disturbance::fork:  // and nobody waits for the other stream
        check(cudaEventRecord(event.get(), stream));
        check(cudaStreamWaitEvent(other, event.get(), 0));
        check(cudaMemsetAsync(aside, 0, sizeof(float), other));
        break;
      case Disturbance::exception:
        if (!device.is_recording()) break;
        // The runtime remembers its error, as after a library's.
        static_cast<void>(cudaSetDevice(-1));
        throw std::runtime_error("this layer cannot be captured");
    }
  }
};

auto disturbed_network(const Disturbed& layer) {
  return nn::Sequential(nn::Input<2, 4, 4>{}, nn::Conv2d<3, 3>{}, nn::BatchNorm2d{}, nn::ReLU{},
                        layer, nn::Flatten{}, nn::Linear<4>{});
}

// A network with such a layer, running statistics in front of it, and its training.
struct DisturbedTraining {
  using Net = decltype(disturbed_network({}));
  using Optimizer = optim::Adam<Cuda, float>;

  explicit DisturbedTraining(Disturbance disturbance)
      : net(device, disturbed_network({disturbance, &attempts, &is_broken, aside.data()})) {}

  TestBatch<float, Cuda> batch(index_t size, Generator& generator) {
    return {device, net.network(), size, generator};
  }

  Cuda& device = test_device<Cuda>();
  Tensor<float, Cuda> aside{device, {1}};
  int attempts = 0;
  bool is_broken = false;
  Model<Net, Cuda> net;
  nn::CrossEntropyLoss criterion;
  Optimizer optimizer{net, {.lr = 0.01}};
  train::Step<Cuda, float, nn::CrossEntropyLoss, Optimizer> step{net, criterion, optimizer};
};

template <class Net, class D>
std::vector<std::byte> buffers_of(const Model<Net, D>& net) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(net.buffers().numel()) * sizeof(float));
  net.device().download(bytes.data(), net.buffers().data(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("a batch size that cannot be recorded stays eager on Cuda, with the same numbers") {
  for (const Disturbance disturbance : disturbances) {
    CAPTURE(static_cast<int>(disturbance));
    manual_seed(5);
    DisturbedTraining training(disturbance);
    auto& stepped = training.net;
    auto& step = training.step;
    auto looped = stepped.to(training.device);
    optim::Adam loop_optimizer(looped, {.lr = 0.01});
    Generator generator(6);
    for (index_t batch : {3, 5, 3, 5, 3, 5, 3, 5, 3, 5}) {
      CAPTURE(batch);
      const auto data = training.batch(batch, generator);
      CHECK(step(data.inputs, data.labels).item() ==
            eager_step(looped, training.criterion, loop_optimizer, data));
      CHECK(cudaPeekAtLastError() == cudaSuccess);
    }
    CHECK(same_bits(parameters_of(stepped), parameters_of(looped)));
    CHECK(buffers_of(stepped) == buffers_of(looped));  // batches counted once

    CHECK(training.attempts == 1);
    CHECK(!step.recording(5).recorded);
    const std::string reason = step.recording(5).reason;
    CAPTURE(reason);
    CHECK(contains(reason, "it cannot be recorded: "));
    CHECK(contains(
        reason, disturbance == Disturbance::exception        ? "this layer cannot be captured"
                : disturbance == Disturbance::tensor         ? "memory is allocated within a step"
                : disturbance == Disturbance::copy_from_host ? "host memory is copied within a step"
                                                             : "cudaErrorStreamCapture"));
    CHECK(step.recording(3).recorded);
    CHECK(step.recording(3).reason.empty());
    training.device.synchronize();
  }
}

TEST_CASE(
    "a batch size that cannot be recorded is not tried again when memory moves or others are "
    "forgotten on Cuda") {
  DisturbedTraining training(Disturbance::wait);
  auto& step = training.step;
  Generator generator(7);
  const auto train = [&](index_t batch, int times) {
    const auto data = training.batch(batch, generator);
    for (int i = 0; i < times; ++i)
      step(data.inputs, data.labels);
  };
  train(5, 3);
  CHECK(training.attempts == 1);
  // Each larger: the model's memory moves; more than are kept.
  for (index_t batch = 6; batch < 17; ++batch)
    train(batch, 3);
  CHECK(step.recording(16).recorded);
  const std::size_t allocated = training.device.memory_allocated();
  train(5, 10);
  CHECK(training.attempts == 1);
  CHECK(!step.recording(5).recorded);
  CHECK(training.device.memory_allocated() == allocated);
  training.net.eval();  // other work
  CHECK(step.recording(16).reason == not_yet);
  train(5, 3);
  CHECK(training.attempts == 2);
  CHECK(training.device.memory_allocated() == allocated);
}

TEST_CASE("an error of the step itself comes through a recording that fails on Cuda") {
  DisturbedTraining training(Disturbance::exception);
  auto& step = training.step;
  Generator generator(8);
  const auto data = training.batch(5, generator);
  CHECK(step.recording(5).reason == not_yet);
  step(data.inputs, data.labels);
  CHECK(step.recording(5).reason == not_yet);
  const std::vector<float> before = parameters_of(training.net);
  training.is_broken = true;
  CHECK(contains(error_of([&] { step(data.inputs, data.labels); }), "CUDA out of memory"));
  CHECK(same_bits(parameters_of(training.net), before));
  CHECK(step.recording(5).reason == not_yet);  // the recording was not to blame
  training.is_broken = false;
  step(data.inputs, data.labels);
  CHECK(contains(step.recording(5).reason, "this layer cannot be captured"));
  CHECK(!same_bits(parameters_of(training.net), before));
}

TEST_CASE("a small dense network needs no recording on Cuda") {
  Cuda& device = test_device<Cuda>();
  using Net = nn::Sequential<nn::Input<4>, nn::Linear<3>>;
  Model<Net, Cuda> net(device);
  optim::SGD optimizer(net, {.lr = 0.1});
  const train::Step step(net, nn::CrossEntropyLoss{}, optimizer);
  CHECK(!step.recording(8).recorded);
  CHECK(step.recording(8).reason == "a step is one launch as it is");
  CHECK(step.recording(1'000'000).reason == not_yet);
}

#endif
