#include <algorithm>
#include <cstddef>
#include <doctest/doctest.h>
#include <vector>

#include <gpunet/data/color_jitter.hpp>
#include <gpunet/data/concat_dataset.hpp>
#include <gpunet/data/dataloader.hpp>
#include <gpunet/data/random_transforms.hpp>
#include <gpunet/data/resize.hpp>
#include <gpunet/data/subset.hpp>
#include <gpunet/extras/data/painted_shapes.hpp>

#include "support/batches.hpp"
#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using data::DataLoader;

namespace {

std::vector<float> all_inputs(auto& device, const auto& set, int workers, auto&& order) {
  std::vector<float> all;
  manual_seed(3);
  const DataLoader loader(set, {.batch_size = 3, .num_workers = workers, .sampler = order});
  auto batches = loader.to(device);
  for (int epochs = 0; epochs < 2; ++epochs)
    for (auto [inputs, labels] : batches) {
      const std::vector<float> values = to_vector(device, inputs);
      all.insert(all.end(), values.begin(), values.end());
    }
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("random transforms draw the same whoever reads the sample", D,
                   GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  using namespace data;
  const Compose moving(RandomCrop{30, {.padding = 2}}, RandomHorizontalFlip{}, ToTensor{},
                       Normalize({0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}));
  const Compose floats(RandomCrop{32, {.padding = 4}}, ToTensor{},
                       ColorJitter{{.brightness = 0.4, .hue = 0.1}}, Resize{16}, RandomErasing{});
  const Shapes bytes_set(10, 1, moving), floats_set(10, 1, floats);
  const ConcatDataset both(floats_set, floats_set);
  const Subset<Shapes> some(bytes_set, {3, 1, 3, 3, 2, 9, 0, 7});
  const auto check = [&](const auto& set) {
    const RandomSampler order(set.size(), {.replacement = true, .num_samples = 11});
    const std::vector<float> expected = all_inputs(device, set, 0, order);
    const std::size_t epoch = expected.size() / 2;
    CHECK(!std::equal(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(epoch),
                      // The next epoch draws others.
                      expected.begin() + static_cast<std::ptrdiff_t>(epoch)));
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
        "gpunet::data::DataLoader::resident_on: the transforms of the dataset draw random numbers "
        "(a copy has "
        "those of "
        "one epoch), use to(device), or leave them out");
}

TEST_CASE("a sample that comes twice in an epoch draws twice") {
  Host host;
  const data::Shapes set(1, 1,
                         data::Compose(data::RandomCrop{32, {.padding = 16}}, data::ToTensor{}));
  const data::RandomSampler order(1, {.replacement = true, .num_samples = 3});
  const std::vector<float> values = all_inputs(host, set, 0, order);
  CHECK(!std::equal(values.begin(), values.begin() + 3072, values.begin() + 3072));
}

TEST_CASE("processes that share an epoch change each sample as one process does") {
  Host host;
  const data::Shapes set(12, 1,
                         data::Compose(data::RandomCrop{32, {.padding = 16}}, data::ToTensor{}));
  const auto part = [&](index_t ranks, index_t rank) {
    return all_inputs(host, set, 0,
                      data::DistributedSampler(set, {.num_replicas = ranks, .rank = rank}));
  };
  const std::vector<float> whole = part(1, 0);
  for (index_t rank = 0; rank < 3; ++rank) {
    const std::vector<float> own = part(3, rank);
    REQUIRE(own.size() * 3 == whole.size());
    for (std::size_t i = 0; i < own.size(); ++i)
      if (const std::size_t from =
              i % 3072 + (i / 3072 * 3 + static_cast<std::size_t>(rank)) * 3072;
          own[i] != whole[from]) {
        FAIL_CHECK("sample ", i / 3072, " of rank ", rank);
        break;
      }
  }
}
