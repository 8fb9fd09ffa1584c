#include <doctest/doctest.h>
#include <type_traits>

#include <gpunet/data/dataloader.hpp>

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
