#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <cstdlib>
#include <doctest/doctest.h>
#include <optional>

#include <gpunet/device/cuda/blas.cuh>
#include <gpunet/gpunet.hpp>

#include "docs/own_layers.hpp"
#include "support/byte_set.hpp"
#include "support/cuda_calls.hpp"
#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "support/networks.hpp"

using namespace gpunet;

namespace {

// 24 random pictures for SmallNet.
struct Pictures {
  index_t size() const { return 24; }
  Sizes sample_sizes() const { return SmallNet{}.input().sizes(); }
  label_t read(index_t i, float* sample) const {
    Generator generator(i);
    for (index_t k = 0; k < sample_sizes().numel(); ++k)
      sample[k] = generator.uniform(-1.0f, 1.0f);
    return static_cast<label_t>(i % 4);
  }
};

}  // namespace

TEST_CASE("waits and allocations on Cuda are counted") {
  Cuda& device = test_device<Cuda>();
  const Calls calls;
  {
    const Tensor<float, Cuda> tensor(device, {1}, {1.0f});
    CHECK(calls.waits() == 0);
    CHECK(tensor.item() == 1.0f);
  }
  CHECK(calls.waits() >= 1);
  CHECK(calls.copies_back() == 1);
  CHECK(calls.allocations() >= 2);
}

TEST_CASE("after the first step a step waits for nothing and allocates nothing on Cuda") {
  Cuda& device = test_device<Cuda>();
  Model<SmallNet, Cuda> net(device);
  const nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.01f, .momentum = 0.9f});
  train::Step step(net, criterion, optimizer);
  train::RunningLoss<Cuda> running(device);
  Generator generator(1);
  const TestBatch<float, Cuda> data(device, SmallNet{}, 3, generator);
  running += step(data.inputs, data.labels);
  nn::utils::clip_grad_norm_(net, 1);
  const Calls calls;
  for (int i = 0; i < 4; ++i) {
    running += step(data.inputs, data.labels);
    optimizer.zero_grad();
    auto loss = criterion(net(data.inputs), data.labels);
    running += loss;
    loss.backward();
    nn::utils::clip_grad_norm_(net, 1);
    nn::utils::clip_grad_value_(net, 0.5);
    optimizer.step();
  }
  running.reset();
  check_quiet(calls);
  CHECK(calls.event_waits() == 0);
}

// The second step of a batch size is recorded, so that its kernels can be counted; from the third
// on it is two launches.
TEST_CASE("a step of LeNet is 14 kernels at most on Cuda, and two launches once it is recorded") {
  Cuda& device = test_device<Cuda>();
  Model<LeNet, Cuda> net(device);
  const nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.001, .momentum = 0.9});
  train::Step step(net, criterion, optimizer);
  Generator generator(1);
  const TestBatch<float, Cuda> data(device, LeNet{}, 4, generator),
      other(device, LeNet{}, 4, generator);
  step(data.inputs, data.labels);
  const Calls second;
  step(data.inputs, data.labels);
  MESSAGE(second.launches(), " kernels in a step");
  CHECK(second.launches() <= 14);
  CHECK(second.recordings() == 1);
  const Calls third;
  optimizer.set_lr(0.5 * optimizer.lr());
  step(other.inputs, other.labels);
  CHECK(third.launches() == 1);  // and the graph
  CHECK(third.recordings() == 0);
  check_quiet(third);
}

TEST_CASE("neighboring element-wise layers are one launch forward and one backward on Cuda") {
  const auto launches = [](auto net) {
    Model model(test_device<Cuda>(), net);
    Generator generator(2);
    const TestBatch<float, Cuda> data(test_device<Cuda>(), net, 37, generator);
    nn::CrossEntropyLoss{}(model(data.inputs), data.labels).backward();
    const Calls calls;
    nn::CrossEntropyLoss{}(model(data.inputs), data.labels).backward();
    return calls.launches();
  };
  using Leaky = nn::Elementwise<mine::LeakyReLU>;
  using Plain = nn::Sequential<nn::Input<9>, nn::Linear<20>, nn::Linear<3>>;
  using Three = nn::Sequential<nn::Input<9>, nn::Linear<20>, Leaky, nn::Tanh, Leaky, nn::Linear<3>>;
  CHECK(launches(Three{}) == launches(Plain{}) + 2);
}

// What rounding makes of the gradients is some percent of them, through the few numbers near 0 that
// a ReLU treats otherwise; a ReLU left out, or another one's bits, as much as they are.
TEST_CASE("a ReLU between large linear layers takes no launch back on tensor cores of Cuda") {
  using Wide = nn::Sequential<nn::Input<257>, nn::Linear<513>, nn::ReLU, nn::Linear<300>>;
  const auto backward = [](Precision precision, std::vector<float>& gradients) {
    Cuda device(0, {precision});
    manual_seed(3);
    Model<Wide, Cuda> net(device);
    Generator generator(4);
    const TestBatch<float, Cuda> data(device, Wide{}, 130, generator);
    auto loss = nn::CrossEntropyLoss{}(net(data.inputs), data.labels);
    const Calls calls;
    loss.backward();
    int launches = calls.launches();
    const detail::Blas* blas = device.made_blas();
    if (blas && (blas->choices().has_refused(513, 130, 257, CUBLASLT_EPILOGUE_RELU_AUX_BIAS) ||
                 blas->choices().has_refused(513, 130, 300, CUBLASLT_EPILOGUE_DRELU))) {
      MESSAGE("cuBLASLt refuses to rectify a gradient here, a kernel of ours does");
      --launches;
    }
    gradients = gradients_of(net);
    return launches;
  };
  std::vector<float> exact, rounded;
  const int launches = backward(Precision::exact, exact);
  CHECK(backward(Precision::tf32, rounded) == launches - 1);
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double a = exact[i], b = rounded[i];
    difference += (a - b) * (a - b);
    size += a * a;
  }
  CHECK(difference > 0);
  CHECK(difference < 0.01 * size);
}

TEST_CASE(
    "each batch size of Cuda is recorded once, and again when the memory of the model has moved") {
  Cuda& device = test_device<Cuda>();
  Model<SmallNet, Cuda> net(device);
  const nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(net, {.lr = 0.01});
  train::Step step(net, criterion, optimizer);
  Generator generator(2);
  const auto recordings_of = [&](index_t batch, int times) {
    const Calls calls;
    const TestBatch<float, Cuda> data(device, SmallNet{}, batch, generator);
    for (int i = 0; i < times; ++i)
      step(data.inputs, data.labels);
    return calls.recordings();
  };
  CHECK(recordings_of(4, 4) == 1);
  CHECK(recordings_of(3, 3) == 1);  // the last batch of an epoch
  CHECK(recordings_of(4, 2) == 0);
  CHECK(recordings_of(3, 2) == 0);
  CHECK(recordings_of(5, 3) == 1);
  CHECK(recordings_of(4, 3) == 1);  // the larger batch took other memory
}

TEST_CASE("where there is no memory for a graph, the steps of a batch size run eagerly on Cuda") {
  Cuda& device = test_device<Cuda>();
  const auto train = [&](bool fails) {
    manual_seed(4);
    Model<SmallNet, Cuda> net(device);
    optim::Adam optimizer(net, {.lr = 0.01});
    train::Step step(net, nn::CrossEntropyLoss{}, optimizer);
    Generator generator(4);
    const TestBatch<float, Cuda> data(device, SmallNet{}, 4, generator),
        other(device, SmallNet{}, 3, generator);
    no_memory_for_graphs = fails;
    step(data.inputs, data.labels);
    const Calls calls;
    for (int i = 0; i < 3; ++i)
      step(data.inputs, data.labels);
    CHECK(calls.recordings() == 1);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    no_memory_for_graphs = false;
    for (int i = 0; i < 3; ++i) {
      step(data.inputs, data.labels);
      step(other.inputs, other.labels);
    }
    CHECK(calls.recordings() == 2);
    check_quiet(calls);
    CHECK(step.recording(3).recorded);
    CHECK(step.recording(4).recorded == !fails);
    CHECK(step.recording(4).reason.empty() == !fails);
    if (fails) CHECK(contains(step.recording(4).reason, "cudaErrorMemoryAllocation"));
    return parameters_of(net);
  };
  CHECK(same_bits(train(true), train(false)));
}

TEST_CASE("an epoch of the Iris lesson is one launch on Cuda, or a hundredth of one") {
  Cuda& device = test_device<Cuda>();
  using Net =
      nn::Sequential<nn::Input<4>, nn::Linear<8>, nn::ReLU, nn::Linear<9>, nn::ReLU, nn::Linear<3>>;
  Model<Net, Cuda> net(device);
  const nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(net, {.lr = 0.01});
  train::Step step(net, criterion, optimizer);
  Generator generator(3);
  const TestBatch<float, Cuda> data(device, Net{}, 120, generator);
  step(data.inputs, data.labels);  // makes room
  const Calls one;
  step(data.inputs, data.labels);
  CHECK(one.launches() == 1);
  const Calls hundred;
  const Tensor<float, Cuda> losses = step.repeat(100, data.inputs, data.labels);
  CHECK(hundred.launches() == 1);
  CHECK(hundred.waits() == 0);
  CHECK(losses.to_vector().back() < losses.to_vector().front());
}

// Both ways to write a step, the running loss and the accuracy, as a user's loop has them; the last
// batch is shorter.
TEST_CASE(
    "a loop over batches waits for nothing, copies nothing back and allocates nothing on Cuda") {
  Cuda& device = test_device<Cuda>();
  Model<SmallNet, Cuda> net(device);
  const nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.01f, .momentum = 0.9f});
  train::Step step(net, criterion, optimizer);
  train::RunningLoss<Cuda> running(device);
  train::Accuracy<Cuda> accuracy(device, 4);
  const Pictures pictures;
  const data::DataLoader loader(pictures, {.batch_size = 5, .shuffle = true, .num_workers = 2});
  auto batches = loader.to(device);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::optional<Calls> calls;  // from the second step on
    for (auto [inputs, labels] : batches) {
      running += step(inputs, labels);
      optimizer.zero_grad();
      const auto output = net(inputs);
      auto loss = criterion(output, labels);
      running += loss;
      accuracy.update(output, labels);
      loss.backward();
      optimizer.step();
      if (!calls) calls.emplace();
    }
    // A batch that no worker has begun may wait for an event: the copy out of its slot.
    check_quiet(*calls);
    running.reset();
    accuracy.reset();
  }
}

// Twenty times, or GPUNET_TEST_CYCLES: a simulator takes its time.
TEST_CASE("models that are made, trained and destroyed leave no Cuda memory behind") {
  Cuda device;
  Generator generator(1);
  const TestBatch<float, Cuda> data(device, SmallNet{}, 3, generator);
  const auto cycle = [&] {
    Model<SmallNet, Cuda> net(device);
    const nn::CrossEntropyLoss criterion;
    optim::SGD optimizer(net, {.lr = 0.01f, .momentum = 0.9f});
    train::Step step(net, criterion, optimizer);
    for (int i = 0; i < 3; ++i)  // as it comes, recorded, and replayed
      step(data.inputs, data.labels);
    device.synchronize();
  };
  cycle();  // the device object keeps the tickets of its sums
  const std::size_t before = device.memory_allocated(), most = device.max_memory_allocated();
  const char* cycles = std::getenv("GPUNET_TEST_CYCLES");
  for (int i = 0; i < (cycles ? std::atoi(cycles) : 20); ++i)
    cycle();
  CHECK(device.memory_allocated() == before);
  CHECK(device.max_memory_allocated() == most);
}

TEST_CASE("a quarter of the bytes travel to Cuda where a dataset has bytes") {
  Cuda& device = test_device<Cuda>();
  const ByteSet set(6);
  const index_t features = set.sample_sizes().numel();
  const Calls calls;
  for (const auto& batch : data::DataLoader(set, {.batch_size = 2}).to(device))
    CHECK(batch.targets.numel() == 2);
  // Two slots.
  CHECK(calls.pinned() == 2 * (static_cast<std::size_t>(2 * features) + 2 * sizeof(label_t)));
  CHECK(calls.launches() == 3);
}

TEST_CASE("a step from a resident dataset waits for nothing and allocates nothing on Cuda") {
  Cuda& device = test_device<Cuda>();
  Model<SmallNet, Cuda> net(device);
  const nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.01f, .momentum = 0.9f});
  train::Step step(net, criterion, optimizer);
  const Pictures pictures;
  const data::DataLoader loader(pictures, {.batch_size = 4, .shuffle = true});
  auto batches = loader.resident_on(device);
  for (auto [inputs, labels] : batches)
    step(inputs, labels);
  const Calls epoch;
  std::optional<Calls> calls;  // from the second step on
  for (auto [inputs, labels] : batches) {
    if (!calls) calls.emplace();
    step(inputs, labels);
  }
  check_quiet(epoch);
  CHECK(epoch.event_waits() == 0);
  // Of the graphs' neighbours: a batch gathered, a step begun.
  CHECK(calls->launches() == 6 - 1 + 6);
}

#endif
