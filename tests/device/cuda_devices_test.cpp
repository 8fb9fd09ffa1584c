#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <cstdlib>
#include <doctest/doctest.h>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>

#include "support/cuda_transfer.hpp"
#include "support/eager_step.hpp"
#include "support/networks.hpp"

using namespace gpunet;

namespace {

bool has_two_devices() {
  if (Cuda::device_count() >= 2) return true;
  MESSAGE("skipped: there is only one Cuda device");
  return false;
}

// Makes a device current for a call, and sees to it that the call leaves it so.
template <class Call>
decltype(auto) with_current(int ordinal, Call call) {
  check(cudaSetDevice(ordinal));
  struct Check {
    int ordinal;
    ~Check() { CHECK(Cuda::current_device() == ordinal); }
  } check_at_end{ordinal};
  return call();
}

// A model in training, the same on every device of this kind.
struct Training {
  explicit Training(Cuda& on) : device(on), net((manual_seed(3), on)) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i)
      step(data.inputs, data.labels);
  }

  Cuda& device;
  Generator generator{1};
  TestBatch<float, Cuda> data{device, SmallNet{}, 3, generator};
  Model<SmallNet, Cuda> net;
  nn::CrossEntropyLoss criterion;
  optim::SGD<Cuda, float> optimizer{net, {.lr = 0.1f, .momentum = 0.9f}};
  train::Step<Cuda, float, nn::CrossEntropyLoss, optim::SGD<Cuda, float>> step{net, criterion,
                                                                               optimizer};
};

constexpr int steps = 4;  // the third is the first that is replayed

// The parameters after them, on a device that is alone.
std::vector<float> trained_alone() {
  Cuda device(0);
  Training training(device);
  training.run(steps);
  return parameters_of(training.net);
}

// Sample i is filled with i / 100.
struct Plain {
  index_t size() const { return 9; }
  Sizes sample_sizes() const { return SmallNet{}.input().sizes(); }
  label_t read(index_t i, float* sample) const {
    std::fill_n(sample, sample_sizes().numel(), static_cast<float>(i) / 100);
    return static_cast<label_t>(i % 4);
  }
};

}  // namespace

TEST_CASE("a launched process has the Cuda device of its place on the machine") {
  if (!has_two_devices()) return;
  const auto named = [](const char* text) {
    return with_device(text, [](auto& device) { return device.name(); });
  };
  constexpr const char* variables[] = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
  for (const auto& [local_rank, device] : {std::pair{0, 0}, {1, 1}, {Cuda::device_count(), 0}}) {
    const std::string rank = std::to_string(local_rank);
    for (const char* name : variables)
      setenv(name, name == variables[0] || name == variables[2] ? rank.c_str() : "99", 1);
    CHECK(named("auto") == concat("cuda:", device));
    CHECK(named("cuda") == concat("cuda:", device));
    CHECK(named("cuda:0") == "cuda:0");
    CHECK(named("cpu") == "cpu");
  }
  for (const char* name : variables)
    unsetenv(name);
  CHECK(named("cuda") == concat("cuda:", Cuda::current_device()));
}

TEST_CASE("several Cuda devices take work in turn, whichever is current") {
  if (!has_two_devices()) return;
  Cuda first(0), second(1);
  CHECK(second.name() == "cuda:1");
  CHECK(Cuda::current_device() == 1);  // the last one made
  Tensor<int, Cuda> a(first, {1000}, counting(0)), b(second, {1000}, counting(0));
  for (int ordinal : {0, 1}) {
    with_current(ordinal, [&] { for_each(first, 1000, AddOne{a.data()}); });
    with_current(ordinal, [&] { for_each(second, 1000, AddOne{b.data()}); });
    with_current(ordinal, [&] { first.blas(), second.blas(); });
    with_current(ordinal, [&] { first.tickets(), second.tickets(); });
    with_current(ordinal, [&] { CHECK(a.to_vector() == counting(1 + ordinal)); });
    with_current(ordinal, [&] { CHECK(b.to_vector() == counting(1 + ordinal)); });
    with_current(ordinal, [&] { CHECK(second.mem_get_info().free > 0); });
    with_current(ordinal, [&] { second.empty_cache(); });
    with_current(ordinal, [&] { first.synchronize(), second.synchronize(); });
    with_current(ordinal, [&] { CHECK(second.memory_reserved() == second.memory_reserved()); });
  }
}

TEST_CASE("functions of tensors run on the device of the tensor, whichever is current") {
  if (!has_two_devices()) return;
  Cuda first(0), second(1);
  for (Cuda* device : {&first, &second})
    for (int ordinal : {0, 1})
      with_current(ordinal, [&] {
        const Tensor<index_t, Cuda> x(*device, {5}, {3, 1, 4, 1, 3});
        CHECK(sort(x).values.to_vector() == std::vector<index_t>{1, 1, 3, 3, 4});
        CHECK(topk(x, 1, 0).values.to_vector() == std::vector<index_t>{4});
        CHECK(unique(x).values.to_vector() == std::vector<index_t>{1, 3, 4});
        CHECK(bincount(x).to_vector() == std::vector<index_t>{0, 2, 0, 2, 1});
        CHECK(masked_select(x, x > 2).to_vector() == std::vector<index_t>{3, 4, 3});
        CHECK(nonzero(x > 3).to_vector() == std::vector<index_t>{2});
        CHECK(cumsum(x, 0).to_vector() == std::vector<index_t>{3, 4, 8, 9, 12});
        CHECK(sum(x).item() == 12);
      });
}

TEST_CASE("models on two Cuda devices are trained in turn, whichever is current") {
  if (!has_two_devices()) return;
  const std::vector<float> expected = trained_alone();
  Cuda first(0), second(1);
  {
    Training a(first), b(second);
    for (int i = 0; i < steps; ++i) {
      with_current(i % 2, [&] { a.run(1); });
      with_current(i % 2, [&] { b.run(1); });
    }
    CHECK(same_bits(with_current(1, [&] { return parameters_of(a.net); }), expected));
    CHECK(same_bits(with_current(0, [&] { return parameters_of(b.net); }), expected));
    check(cudaSetDevice(0));  // and so they go: one with the wrong device
  }
  CHECK(Cuda::current_device() == 0);
}

TEST_CASE("models on two Cuda devices are trained by a thread each") {
  if (!has_two_devices()) return;
  const std::vector<float> expected = trained_alone();
  Cuda first(0), second(1);
  Training a(first), b(second);
  std::thread beside([&] { b.run(steps); });
  a.run(steps);
  beside.join();
  CHECK(same_bits(parameters_of(a.net), expected));
  CHECK(same_bits(parameters_of(b.net), expected));
}

TEST_CASE("models and tensors move from one Cuda device to another") {
  if (!has_two_devices()) return;
  Cuda first(0), second(1);
  Training training(first);
  training.run(2);
  for (int ordinal : {0, 1}) {
    const Model<SmallNet, Cuda> there =
        with_current(ordinal, [&] { return training.net.to(second); });
    const Model<SmallNet, Cuda> back = with_current(ordinal, [&] { return there.to(first); });
    CHECK(same_bits(parameters_of(there), parameters_of(training.net)));
    CHECK(same_bits(parameters_of(back), parameters_of(training.net)));
  }
}

TEST_CASE(
    "a tensor that moves between Cuda devices is ordered after earlier work and before later") {
  if (!has_two_devices()) return;
  Cuda first(0), second(1);
  for (int ordinal : {0, 1}) {
    with_current(ordinal, [&] { pass_on(first, second); });
    with_current(ordinal, [&] { pass_on(second, first); });
  }
}

TEST_CASE("a loader feeds any Cuda device, whichever is current") {
  if (!has_two_devices()) return;
  Cuda first(0), second(1);
  const Plain set;
  for (int workers : {0, 2})
    for (Cuda* device : {&first, &second})
      with_current(1 - device->ordinal(), [&] {
        const data::DataLoader loader(set, {.batch_size = 2, .num_workers = workers});
        index_t i = 0;
        for (auto [inputs, labels] : loader.to(*device)) {
          std::vector<label_t> seen(static_cast<std::size_t>(labels.numel()));
          device->download(seen.data(), labels.data(), seen.size() * sizeof(label_t));
          for (label_t label : seen)
            CHECK(label == i++ % 4);
        }
        CHECK(i == 9);
      });
}

TEST_CASE("a Cuda device that is not there, where there are two") {
  if (!has_two_devices()) return;
  const int count = Cuda::device_count();
  std::string error;
  try {
    with_device(count <= 7 ? "cuda:7" : "cuda:700", [](auto&) {});
  } catch (const Error& e) {
    error = e.what();
  }
  CHECK(error == concat("gpunet::Cuda: CUDA error: invalid device ordinal: there is no cuda:",
                        count <= 7 ? 7 : 700, ", this machine has ", count,
                        " CUDA devices, the first is cuda:0"));
}

#endif
