#include <doctest/doctest.h>
#include <type_traits>

#include <gpunet/data/concat_dataset.hpp>
#include <gpunet/data/dataloader.hpp>
#include <gpunet/data/subset.hpp>

#include "support/batches.hpp"
#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using data::DataLoader;

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
static_assert(std::is_constructible_v<DataLoader<>, TwoFunctions>);

}  // namespace

TEST_CASE_TEMPLATE("two functions make a dataset", D, GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const TwoFunctions set;
  for (int workers : {0, 3})
    CHECK(epoch(device, DataLoader(set, {.batch_size = 2, .num_workers = workers}).to(device)) ==
          Order{{0, 1}, {2, 3}, {4}});
  const TwoFunctions broken{.odd = 3};
  for (int workers : {0, 3})
    CHECK(
        error_of([&] { epoch(device, DataLoader(broken, {.num_workers = workers}).to(device)); }) ==
        "gpunet::data: sample 3 has the shape [3] and sample 0 [2] (a batch has one shape), bring "
        "all samples to "
        "one");
}

TEST_CASE_TEMPLATE(
    "parts of a dataset of two functions, and several one after another, are datasets", D,
    GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const TwoFunctions set;
  const data::Subset some(set, {4, 0, 2});
  static_assert(data::SampleDataset<decltype(some)> && !data::Dataset<decltype(some)>);
  CHECK(epoch(device, DataLoader(some, {.batch_size = 2}).to(device)) == Order{{4, 0}, {2}});
  const data::Subset one(some, {2});  // a part of a part
  CHECK(epoch(device, DataLoader(one).to(device)) == Order{{2}});

  const data::ConcatDataset all(some, set);
  CHECK(epoch(device, DataLoader(all, {.batch_size = 4, .num_workers = 2}).to(device)) ==
        Order{{4, 0, 2, 0}, {1, 2, 3, 4}});

  manual_seed(0);
  const auto parts = data::random_split(set, {0.6, 0.4});
  REQUIRE(parts.size() == 2);
  std::vector<index_t> order = parts[0].indices();
  order.insert(order.end(), parts[1].indices().begin(), parts[1].indices().end());
  manual_seed(0);
  CHECK(order == randperm(5));
  for (const auto& part : parts) {
    Order expected;
    for (index_t i : part.indices())
      expected.push_back({static_cast<label_t>(i)});
    CHECK(epoch(device, DataLoader(part).to(device)) == expected);
  }
  CHECK(data::random_split(set, {3, 2})[0].size() == 3);
}
