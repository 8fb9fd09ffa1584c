#include <algorithm>
#include <array>
#include <atomic>
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

#include <gpunet/data/cifar10.hpp>
#include <gpunet/data/color_jitter.hpp>
#include <gpunet/data/concat_dataset.hpp>
#include <gpunet/data/dataloader.hpp>
#include <gpunet/data/random_transforms.hpp>
#include <gpunet/data/resize.hpp>
#include <gpunet/data/shapes.hpp>
#include <gpunet/data/subset.hpp>

#include "support/byte_set.hpp"
#include "support/devices.hpp"
#include "support/errors.hpp"

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
static_assert(!std::is_constructible_v<DataLoader, Numbers>);  // the loader would outlive it
static_assert(std::input_iterator<data::Batches<Host>::Iterator>);

using Order = std::vector<std::vector<label_t>>;  // the labels of each batch

template <class T, class D>
std::vector<T> read_back(D& device, View<const T, D> view) {
  std::vector<T> values(static_cast<std::size_t>(view.numel()));
  device.download(values.data(), view.data(), values.size() * sizeof(T));
  return values;
}

// One epoch's labels; checks that the samples are those of the labels.
template <class D>
Order epoch(D& device, auto&& batches) {
  Order order;
  for (auto [inputs, labels] : batches) {
    order.push_back(read_back(device, labels));
    const std::vector<float> values = read_back(device, inputs);
    REQUIRE(inputs.sizes() == Sizes{labels.numel(), 2});
    REQUIRE(values.size() == 2 * order.back().size());
    for (std::size_t i = 0; i < order.back().size(); ++i) {
      REQUIRE(values[2 * i] == static_cast<float>(order.back()[i]));
      REQUIRE(values[2 * i + 1] == -static_cast<float>(order.back()[i]));
    }
  }
  return order;
}

std::string error_of(const Numbers& set, const DataLoaderOptions& options) {
  try {
    DataLoader loader(set, options);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

// Expected orders: PyTorch 2.15, DataLoader over TensorDataset(torch.arange(n)), num_workers 0 and 2 alike.
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
    const DataLoader full(ten, {.batch_size = 4, .shuffle = true, .num_workers = workers, .drop_last = true});
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
          set, {.batch_size = 2, .shuffle = true, .num_workers = workers, .prefetch_factor = prefetch});
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
      const DataLoader loader(set, {.batch_size = batch_size, .shuffle = true, .num_workers = workers});
      auto batches = loader.to(device);
      for (int again = 0; again < 2; ++again)
        for (auto [inputs, labels] : batches) {
          REQUIRE(inputs.sizes() == set.sample_sizes().with_front(labels.numel()));
          std::vector<float> expected(static_cast<std::size_t>(inputs.numel()));
          float* sample = expected.data();
          for (label_t label : read_back(device, labels)) {
            set.read(label, sample);
            sample += set.sample_sizes().numel();
          }
          const std::vector<float> seen = read_back(device, inputs);
          REQUIRE(std::memcmp(seen.data(), expected.data(), seen.size() * sizeof(float)) == 0);
        }
    }
}

namespace {

std::vector<float> all_inputs(auto& device, const auto& set, int workers, auto&& order) {
  std::vector<float> all;
  manual_seed(3);
  const DataLoader loader(set, {.batch_size = 3, .num_workers = workers, .sampler = order});
  auto batches = loader.to(device);
  for (int epochs = 0; epochs < 2; ++epochs)
    for (auto [inputs, labels] : batches) {
      const std::vector<float> values = read_back(device, inputs);
      all.insert(all.end(), values.begin(), values.end());
    }
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("random transforms draw the same whoever reads the sample", D, GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  using namespace data;
  const Compose moving(RandomCrop{30, {.padding = 2}}, RandomHorizontalFlip{}, ToTensor{},
                       Normalize({0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}));
  const Compose floats(RandomCrop{32, {.padding = 4}}, ToTensor{}, ColorJitter{{.brightness = 0.4, .hue = 0.1}},
                       Resize{16}, RandomErasing{});
  const Shapes bytes_set(10, 1, moving), floats_set(10, 1, floats);
  const ConcatDataset both(floats_set, floats_set);
  const Subset<Shapes> some(bytes_set, {3, 1, 3, 3, 2, 9, 0, 7});
  const auto check = [&](const auto& set) {
    const RandomSampler order(set.size(), {.replacement = true, .num_samples = 11});
    const std::vector<float> expected = all_inputs(device, set, 0, order);
    const std::size_t epoch = expected.size() / 2;
    CHECK(!std::equal(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(epoch),
                      expected.begin() + static_cast<std::ptrdiff_t>(epoch)));  // the next epoch draws others
    for (int workers : {1, 2, 5, 16}) {
      CAPTURE(workers);
      CHECK(all_inputs(device, set, workers, order) == expected);
    }
  };
  check(bytes_set);
  check(floats_set);
  check(both);
  check(some);
  CHECK(DatasetView(some).pixel_table() != nullptr);
  CHECK(DatasetView(floats_set).pixel_table() == nullptr);
  CHECK(error_of([&] { DataLoader(some).resident_on(device); }) ==
        "gpunet::data::DataLoader::resident_on: the transforms of the dataset draw random numbers (a copy has "
        "those of "
        "one epoch), use to(device), or leave them out");
}

TEST_CASE("a sample that comes twice in an epoch draws twice") {
  Host host;
  const data::Shapes set(1, 1, data::Compose(data::RandomCrop{32, {.padding = 16}}, data::ToTensor{}));
  const data::RandomSampler order(1, {.replacement = true, .num_samples = 3});
  const std::vector<float> values = all_inputs(host, set, 0, order);
  CHECK(!std::equal(values.begin(), values.begin() + 3072, values.begin() + 3072));
}

namespace {

// A dataset of two functions.
struct TwoFunctions {
  index_t odd = -1;  // this sample has another shape

  index_t size() const { return 5; }
  data::Sample operator[](index_t i) const {
    if (i == odd) return {{1, 2, 3}, {3}, 0};
    const auto x = static_cast<float>(i);
    return {{x, -x}, {2}, static_cast<label_t>(i)};
  }
};
static_assert(data::SampleDataset<TwoFunctions> && !data::Dataset<TwoFunctions>);
static_assert(!std::is_constructible_v<DataLoader, TwoFunctions>);  // the loader would outlive it

}  // namespace

TEST_CASE_TEMPLATE("two functions make a dataset", D, GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const TwoFunctions set;
  for (int workers : {0, 3})
    CHECK(epoch(device, DataLoader(set, {.batch_size = 2, .num_workers = workers}).to(device)) ==
          Order{{0, 1}, {2, 3}, {4}});
  const TwoFunctions broken{.odd = 3};
  for (int workers : {0, 3})
    CHECK(error_of([&] { epoch(device, DataLoader(broken, {.num_workers = workers}).to(device)); }) ==
          "gpunet::data: sample 3 has the shape [3] and sample 0 [2] (a batch has one shape), bring all samples to "
          "one");
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
        CHECK(read_back(device, labels)[0] == 3 * batch);
        if (batch++ == last) break;
      }
      CHECK_THROWS_WITH(
          [&] {
            for (const auto& first : loader.to(device))
              throw std::runtime_error(first.labels.numel() == 3 ? "left" : "short");
          }(),
          "left");
    }
    loader.to(device);  // never looped over
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
              arrived += batch.labels.numel() == 2;
          }(),
          "sample 13 is broken", std::runtime_error);
      CHECK(arrived == 6);
    }
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
  CHECK(epoch(host, DataLoader(five, {.batch_size = 5, .num_workers = 2}).to(host)) == Order{{0, 1, 2, 3, 4}});
}

TEST_CASE("options that make no batches are refused") {
  const Numbers set{10}, nothing{0};
  CHECK(error_of(nothing, {}) == "gpunet::data::DataLoader: the dataset is empty");
  for (index_t size : {0, -4})
    CHECK(error_of(set, {.batch_size = size}) ==
          concat("gpunet::data::DataLoader: batch_size ", size, " (want 1 to 10, the size of the dataset)"));
  CHECK(error_of(set, {.batch_size = 11}) ==
        "gpunet::data::DataLoader: batch_size 11 is larger than the dataset (want 1 to 10)");
  CHECK(error_of(set, {.num_workers = -1}) == "gpunet::data::DataLoader: num_workers -1 (want 0 to 1024)");
  CHECK(error_of(set, {.num_workers = 1025}) == "gpunet::data::DataLoader: num_workers 1025 (want 0 to 1024)");
  CHECK(error_of(set, {.prefetch_factor = 0}) == "gpunet::data::DataLoader: prefetch_factor 0 (want 1 to 1024)");
  CHECK(
      error_of(set, {.batch_size = 5, .num_workers = 2, .prefetch_factor = 1025}) ==
      "gpunet::data::DataLoader: prefetch_factor 1025 (want 1 to 1024): the batches decoded ahead would take 82000 "
      "bytes of host memory");
  CHECK(error_of(set, {.num_workers = 2, .prefetch_factor = 1024}).empty());
  CHECK(error_of(set, {.batch_size = 10, .drop_last = true}).empty());
}

// PyTorch 1.13 and 2.15: seed 0, the lesson's network, then DataLoader(shuffle=True, batch_size=4, num_workers=2).
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
    order.push_back(read_back(host, labels));
    if (order.size() == 3) break;
  }
  CHECK(order == Order{{4, 6, 9, 3}, {2, 8, 4, 6}, {5, 9, 0, 5}});
}
