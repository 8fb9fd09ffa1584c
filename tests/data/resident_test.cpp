#include <cstring>
#include <doctest/doctest.h>
#include <iterator>
#include <string>
#include <vector>

#include <gpunet/data/dataloader.hpp>

#include "support/byte_set.hpp"
#include "support/devices.hpp"

using namespace gpunet;
using data::DataLoader;
using data::DataLoaderOptions;

static_assert(std::input_iterator<data::ResidentBatches<Host>::Iterator>);

namespace {

// Samples of floats; sample i has the label i.
struct FloatSet {
  index_t n = 1;
  Sizes sizes{2, 3};

  index_t size() const { return n; }
  Sizes sample_sizes() const { return sizes; }
  label_t read(index_t i, float* sample) const {
    for (int k = 0; k < 6; ++k)
      sample[k] = static_cast<float>(i) + 0.1f * static_cast<float>(k);
    return static_cast<label_t>(i);
  }
};

struct Seen {
  std::vector<Sizes> sizes;
  std::vector<float> inputs;
  std::vector<label_t> labels;
};

// What one epoch holds.
template <class D>
Seen epoch(D& device, auto&& batches) {
  Seen seen;
  for (auto [inputs, labels] : batches) {
    seen.sizes.push_back(inputs.sizes());
    const std::size_t at = seen.inputs.size(), label_at = seen.labels.size();
    seen.inputs.resize(at + static_cast<std::size_t>(inputs.numel()));
    seen.labels.resize(label_at + static_cast<std::size_t>(labels.numel()));
    device.download(seen.inputs.data() + at, inputs.data(),
                    (seen.inputs.size() - at) * sizeof(float));
    device.download(seen.labels.data() + label_at, labels.data(),
                    (seen.labels.size() - label_at) * sizeof(label_t));
  }
  return seen;
}

// Epochs of both kinds from one seed, and what the generator gives afterwards.
template <class D, class Set>
void check_same(D& device, const Set& set, const DataLoaderOptions& options, int epochs = 3) {
  const DataLoader loader(set, options);
  manual_seed(7);
  std::vector<Seen> expected;
  auto batches = loader.to(device);
  for (int i = 0; i < epochs; ++i)
    expected.push_back(epoch(device, batches));
  const auto next = default_generator().random63();

  manual_seed(7);
  auto resident = loader.resident_on(device);
  CHECK(resident.size() == loader.size());
  for (const Seen& want : expected) {
    const Seen seen = epoch(device, resident);
    CHECK(seen.sizes == want.sizes);
    CHECK(seen.labels == want.labels);
    REQUIRE(seen.inputs.size() == want.inputs.size());
    CHECK(std::memcmp(seen.inputs.data(), want.inputs.data(), seen.inputs.size() * sizeof(float)) ==
          0);
  }
  CHECK(default_generator().random63() == next);
}

template <class Set, class D>
std::string error_of(D& device, const Set& set) {
  try {
    DataLoader(set).resident_on(device);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE_TEMPLATE("a resident dataset gives the loader's batches, bit for bit", D,
                   GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const ByteSet bytes(23);
  const FloatSet floats{23};
  for (const bool shuffle : {false, true})
    for (const bool drop_last : {false, true})
      for (index_t batch_size : {1, 5, 23}) {
        const DataLoaderOptions options{
            .batch_size = batch_size, .shuffle = shuffle, .drop_last = drop_last};
        check_same(device, bytes, options);
        check_same(device, floats, options);
      }
}

TEST_CASE_TEMPLATE("a resident dataset of several chunks", D, GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const ByteSet set(4, {1, 100, 700});  // 256 KB are three samples
  check_same(device, set, {.batch_size = 2, .shuffle = true}, 1);
}

TEST_CASE_TEMPLATE("a loop over a resident dataset may be left", D, GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const FloatSet set{10};
  const DataLoader loader(set, {.batch_size = 3});
  auto batches = loader.resident_on(device);
  for (int i = 0; i < 2; ++i)
    for (auto [inputs, labels] : batches) {
      label_t first = -1;
      device.download(&first, labels.data(), sizeof first);
      CHECK(first == 0);
      break;
    }
  CHECK(epoch(device, batches).labels.size() == 10);
}

TEST_CASE_TEMPLATE("a dataset that does not fit is refused with the bytes that it takes", D,
                   GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const FloatSet large{index_t{1} << 47};
  const std::string error = error_of(device, large);
  CAPTURE(error);
  CHECK(error.starts_with(
      concat("gpunet::data::DataLoader::resident_on: the dataset takes 3940649673949184 bytes on ",
             device.name(), " (140737488355328 samples of 28) and does not fit (")));
  CHECK(error.find(" bytes free") != error.npos);
  CHECK(error.find("use to(device)") != error.npos);
  const FloatSet countless{index_t{1} << 47, {index_t{1} << 20}};
  CHECK(error_of(device, countless).find("samples of 4194308 bytes") != std::string::npos);
  CHECK(error_of(device, FloatSet{4}).empty());
}
