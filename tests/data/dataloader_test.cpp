#include <chrono>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <gpunet/data/cifar.hpp>
#include <gpunet/data/dataloader.hpp>

#include "support/batches.hpp"
#include "support/byte_set.hpp"
#include "support/devices.hpp"

using namespace gpunet;
using data::DataLoader;
using data::DataLoaderOptions;

// Another kind of device: memory that no host pointer reaches but by upload and download.
class Remote {
 public:
  void* allocate(std::size_t n) { return static_cast<std::byte*>(host_.allocate(n)); }
  void deallocate(void* p, std::size_t n) { host_.deallocate(p, n); }
  void upload(void* p, const void* q, std::size_t n) {
    host_.upload(p, q, n);
    uploaded += n;
  }
  void download(void* p, const void* q, std::size_t n) { host_.download(p, q, n); }
  void copy(void* p, const void* q, std::size_t n) { host_.copy(p, q, n); }
  void synchronize() {}
  std::string name() const { return "remote"; }

  std::size_t uploaded = 0;

 private:
  Host host_{HostOptions{.threads = 1}};
};

namespace {

// Sample i is [i, -i], its label i.
struct Numbers {
  index_t n;
  index_t broken = -1;  // this sample cannot be read
  index_t slow = 0;     // every so many samples one takes its time; 0: none

  index_t size() const { return n; }
  Sizes sample_sizes() const { return {2}; }
  label_t read(index_t i, float* sample) const {
    if (i == broken) throw std::runtime_error("sample " + std::to_string(i) + " is broken");
    if (slow > 0 && i % slow == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
    sample[0] = static_cast<float>(i);
    sample[1] = -sample[0];
    return static_cast<label_t>(i);
  }
};
static_assert(data::Dataset<Numbers>);
static_assert(std::is_constructible_v<DataLoader<>, Numbers>);
static_assert(std::input_iterator<data::Batches<Host>::Iterator>);

std::string error_of(const Numbers& set, const DataLoaderOptions& options) {
  try {
    DataLoader loader(set, options);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

// Expected orders: PyTorch 2.15, DataLoader over TensorDataset(torch.arange(n)), num_workers 0 and
// 2 alike.
TEST_CASE_TEMPLATE("the same seed gives PyTorch's batches", D, GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const Numbers ten{10}, eight{8};
  for (int workers : {0, 1, 2, 16}) {
    CAPTURE(workers);
    manual_seed(0);
    const DataLoader loader(ten, {.batch_size = 4, .shuffle = true, .num_workers = workers});
    CHECK(loader.size() == 3);
    CHECK(epoch(device, loader.to(device)) == Order{{6, 7, 1, 4}, {2, 0, 9, 8}, {3, 5}});
    CHECK(epoch(device, loader.to(device)) == Order{{2, 4, 7, 0}, {8, 9, 5, 3}, {6, 1}});
    CHECK(epoch(device, loader.to(device)) == Order{{7, 4, 5, 1}, {9, 3, 8, 2}, {0, 6}});
    CHECK(default_generator().random63() == 8072059273656089175);

    manual_seed(0);
    const DataLoader full(
        ten, {.batch_size = 4, .shuffle = true, .num_workers = workers, .drop_last = true});
    CHECK(full.size() == 2);
    CHECK(epoch(device, full.to(device)) == Order{{6, 7, 1, 4}, {2, 0, 9, 8}});
    CHECK(epoch(device, full.to(device)) == Order{{2, 4, 7, 0}, {8, 9, 5, 3}});

    manual_seed(0);
    const DataLoader divisible(eight, {.batch_size = 4, .shuffle = true, .num_workers = workers});
    CHECK(epoch(device, divisible.to(device)) == Order{{2, 0, 5, 3}, {1, 4, 7, 6}});

    manual_seed(0);
    const DataLoader in_order(ten, {.batch_size = 4, .num_workers = workers});
    for (int i = 0; i < 3; ++i)
      CHECK(epoch(device, in_order.to(device)) == Order{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}});
    CHECK(default_generator().random63() == 827948490035658087);
  }
}

TEST_CASE_TEMPLATE("the number of workers changes nothing", D, GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const Numbers set{.n = 201, .slow = 37};
  Order expected;
  for (int workers : {0, 1, 2, 3, 16})
    for (int prefetch : {1, 2, 5}) {
      manual_seed(5);
      const DataLoader loader(
          set,
          {.batch_size = 2, .shuffle = true, .num_workers = workers, .prefetch_factor = prefetch});
      const Order order = epoch(device, loader.to(device));
      if (expected.empty()) expected = order;
      CHECK(order == expected);
    }
}

TEST_CASE_TEMPLATE("samples that the dataset has as bytes have the same bits on every device", D,
                   GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const ByteSet set(23);
  for (int workers : {0, 2})
    for (index_t batch_size : {1, 4, 23}) {
      const DataLoader loader(set,
                              {.batch_size = batch_size, .shuffle = true, .num_workers = workers});
      auto batches = loader.to(device);
      for (int again = 0; again < 2; ++again)
        for (auto [inputs, labels] : batches) {
          REQUIRE(inputs.sizes() == set.sample_sizes().with_front(labels.numel()));
          std::vector<float> expected(static_cast<std::size_t>(inputs.numel()));
          float* sample = expected.data();
          for (label_t label : to_vector(device, labels)) {
            set.read(label, sample);
            sample += set.sample_sizes().numel();
          }
          const std::vector<float> seen = to_vector(device, inputs);
          REQUIRE(std::memcmp(seen.data(), expected.data(), seen.size() * sizeof(float)) == 0);
        }
    }
}

TEST_CASE_TEMPLATE("one object serves several epochs", D, GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const Numbers set{10};
  manual_seed(0);
  const DataLoader loader(set, {.batch_size = 4, .shuffle = true, .num_workers = 2});
  auto batches = loader.to(device);
  CHECK(batches.size() == 3);
  CHECK(epoch(device, batches) == Order{{6, 7, 1, 4}, {2, 0, 9, 8}, {3, 5}});
  CHECK(epoch(device, batches) == Order{{2, 4, 7, 0}, {8, 9, 5, 3}, {6, 1}});
}

TEST_CASE_TEMPLATE("a loop may be left at any batch and another begun", D, GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const Numbers set{.n = 40, .slow = 7};
  for (int workers : {0, 2, 5}) {
    const DataLoader loader(set, {.batch_size = 3, .num_workers = workers});
    auto batches = loader.to(device);
    for (index_t last = 0; last < loader.size(); ++last) {
      index_t batch = 0;
      for (auto [inputs, labels] : batches) {
        CHECK(to_vector(device, labels)[0] == 3 * batch);
        if (batch++ == last) break;
      }
      CHECK_THROWS_WITH(
          [&] {
            for (const auto& first : loader.to(device))
              throw std::runtime_error(first.targets.numel() == 3 ? "left" : "short");
          }(),
          "left");
    }
    loader.to(device);  // never looped over
  }
}

TEST_CASE_TEMPLATE("batches serve one loop at a time, and say so", D, GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const Numbers ten{10};
  const auto check = [&](auto&& batches) {
    const char* const another =
        "gpunet::data::DataLoader: another loop over the same batches has begun (they serve one at "
        "a time), give "
        "each loop batches of its own: loader.to(device)";
    int outer = 0, inner = 0;
    const auto nested = [&] {
      for ([[maybe_unused]] auto [inputs, labels] : batches) {
        ++outer;
        for ([[maybe_unused]] auto [more_inputs, more_labels] : batches)
          ++inner;
      }
    };
    CHECK_THROWS_WITH_AS(nested(), another, Error);
    CHECK(outer == 1);
    CHECK(inner == 3);

    auto first = batches.begin(), second = batches.begin();
    CHECK_THROWS_WITH_AS(++first, another, Error);
    CHECK_THROWS_WITH_AS(*first, another, Error);
    CHECK_THROWS_WITH_AS(static_cast<void>(first == batches.end()), another, Error);
    ++second, ++second, ++second;
    CHECK(second == batches.end());
    const char* const behind =
        "gpunet::data::DataLoader: there is no batch after the last one (an epoch has 3), compare "
        "the iterator "
        "with end() first";
    CHECK_THROWS_WITH_AS(++second, behind, Error);
    CHECK_THROWS_WITH_AS(*second, behind, Error);
    CHECK(second == batches.end());
    CHECK(epoch(device, batches) == Order{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}});
  };
  for (int workers : {0, 2}) {
    const DataLoader loader(ten, {.batch_size = 4, .num_workers = workers});
    check(loader.to(device));
    check(loader.resident_on(device));
  }
}

TEST_CASE_TEMPLATE("what the dataset throws reaches the loop, after the batches before it", D,
                   GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const Numbers set{.n = 30, .broken = 13};
  for (int workers : {0, 1, 4}) {
    const DataLoader loader(set, {.batch_size = 2, .num_workers = workers});
    auto batches = loader.to(device);
    for (int again = 0; again < 2; ++again) {
      int arrived = 0;
      CHECK_THROWS_WITH_AS(
          [&] {
            for (const auto& batch : batches)
              arrived += batch.targets.numel() == 2;
          }(),
          "sample 13 is broken", std::runtime_error);
      CHECK(arrived == 6);
    }
    auto failed = batches.begin();
    CHECK_THROWS_AS(
        [&] {
          while (true)
            ++failed;
        }(),
        std::runtime_error);
    CHECK(failed == batches.end());  // there is no batch 6, and batch 5 is not valid any more
    CHECK_THROWS_AS(*failed, Error);
    CHECK_THROWS_AS(++failed, Error);
  }
}

TEST_CASE("a loader that is ahead keeps its workers waiting, and a slow one its training thread") {
  Host host;
  for (const Numbers& set : {Numbers{.n = 60}, Numbers{.n = 60, .slow = 1}}) {
    const DataLoader loader(set, {.batch_size = 4, .num_workers = 3});
    label_t next = 0;
    for (auto [inputs, labels] : loader.to(host)) {
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      for (index_t i = 0; i < labels.numel(); ++i)
        CHECK(labels.data()[i] == next++);  // still what was sent
    }
    CHECK(next == 60);
  }
}

TEST_CASE("a device without buffers of its own gets copies") {
  Remote remote;
  const Numbers set{10};
  const DataLoader loader(set, {.batch_size = 4, .num_workers = 2});
  CHECK(epoch(remote, loader.to(remote)) == Order{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}});
  CHECK(remote.uploaded == 10 * (2 * sizeof(float) + sizeof(label_t)));
}

TEST_CASE("the first batch may be the only one, and hold one sample") {
  Host host;
  const Numbers one{1}, five{5};
  CHECK(epoch(host, DataLoader(one).to(host)) == Order{{0}});
  CHECK(epoch(host, DataLoader(five, {.batch_size = 5, .num_workers = 2}).to(host)) ==
        Order{{0, 1, 2, 3, 4}});
}

TEST_CASE("options that make no batches are refused") {
  const Numbers set{10}, nothing{0};
  CHECK(error_of(nothing, {}) ==
        "gpunet::data::DataLoader: the dataset is empty (no batch can be made), check its path, or "
        "its size()");
  CHECK(error_of(Numbers{-1}, {}) ==
        "gpunet::data::DataLoader: the dataset has -1 samples (want 1 or more), check its size()");
  for (index_t size : {0, -4})
    CHECK(error_of(set, {.batch_size = size}) ==
          concat("gpunet::data::DataLoader: batch_size ", size,
                 " (want 1 to 10, the size of the dataset)"));
  CHECK(error_of(set, {.batch_size = 11}) ==
        "gpunet::data::DataLoader: batch_size 11 is larger than the dataset (want 1 to 10)");
  CHECK(error_of(set, {.num_workers = -1}) ==
        "gpunet::data::DataLoader: num_workers -1 (want 0 to 1024)");
  CHECK(error_of(set, {.num_workers = 1025}) ==
        "gpunet::data::DataLoader: num_workers 1025 (want 0 to 1024)");
  CHECK(error_of(set, {.prefetch_factor = 0}) ==
        "gpunet::data::DataLoader: prefetch_factor 0 (want 1 to 1024)");
  CHECK(error_of(set, {.batch_size = 5, .num_workers = 2, .prefetch_factor = 1025}) ==
        "gpunet::data::DataLoader: prefetch_factor 1025 (want 1 to 1024): the batches decoded "
        "ahead would take 82000 "
        "bytes of host memory");
  CHECK(error_of(set, {.num_workers = 2, .prefetch_factor = 1024}).empty());
  CHECK(error_of(set, {.batch_size = 10, .drop_last = true}).empty());
}

// PyTorch 1.13 and 2.15: seed 0, the lesson's network, then DataLoader(shuffle=True, batch_size=4,
// num_workers=2).
TEST_CASE("the lesson's first batches of CIFAR-10") {
  const char* folder = std::getenv("GPUNET_TEST_DATA");
  if (!folder) {
    MESSAGE("skipped: GPUNET_TEST_DATA does not name a folder with cifar10/");
    return;
  }
  const auto set = data::CIFAR10::train(std::filesystem::path(folder) / "cifar10");
  REQUIRE(set.size() == 50000);
  manual_seed(0);
  for (int i = 0; i < 62006; ++i)
    default_generator().uniform(0.0f, 1.0f);  // the network's weights and biases
  Host host;
  const DataLoader loader(set, {.batch_size = 4, .shuffle = true, .num_workers = 2});
  Order order;
  for (auto [inputs, labels] : loader.to(host)) {
    order.push_back(to_vector(host, labels));
    if (order.size() == 3) break;
  }
  CHECK(order == Order{{4, 6, 9, 3}, {2, 8, 4, 6}, {5, 9, 0, 5}});
}
