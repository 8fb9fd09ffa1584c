#include <doctest/doctest.h>
#include <type_traits>
#include <vector>

#include <gpunet/data/concat_dataset.hpp>

#include "support/byte_set.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using data::ConcatDataset;

static_assert(data::Dataset<ConcatDataset<>>);
static_assert(std::is_constructible_v<ConcatDataset<>, const ByteSet&, ByteSet&>);
static_assert(std::is_constructible_v<ConcatDataset<>, const ByteSet&, ByteSet>);

namespace {

// Sample i is [first + i], its label i.
struct Numbers {
  index_t n;
  float first;

  index_t size() const { return n; }
  Sizes sample_sizes() const { return {1}; }
  label_t read(index_t i, float* sample) const {
    *sample = first + static_cast<float>(i);
    return static_cast<label_t>(i);
  }
};

}  // namespace

TEST_CASE("samples come dataset after dataset") {
  const Numbers a{2, 10}, none{0, 20}, b{3, 30};
  const ConcatDataset set(a, none, b);
  CHECK(set.size() == 5);
  CHECK(set.sample_sizes() == Sizes{1});
  const std::vector<float> expected{10, 11, 30, 31, 32};
  const std::vector<label_t> expected_labels{0, 1, 0, 1, 2};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    float sample = 0;
    label_t label = -1;
    set.read(static_cast<index_t>(i), &sample, &label);
    CHECK(sample == expected[i]);
    CHECK(label == expected_labels[i]);
  }
}

TEST_CASE("samples of two shapes are refused") {
  const ByteSet a(2), b(3, {3, 4, 4});
  CHECK(error_of([&] { ConcatDataset(a, b); }) ==
        "gpunet::data::ConcatDataset: the samples of dataset 1 have shape [3, 4, 4], those before "
        "it [3, 5, 7] (a "
        "batch has one shape), bring them to one, by Resize for images");
  CHECK(error_of([] { ConcatDataset(std::vector<data::DatasetView>{}); }) ==
        "gpunet::data::ConcatDataset: no datasets (want one or more)");
}

TEST_CASE("a dataset without samples has no shape, and one with fewer is refused") {
  struct TwoFunctions {
    index_t n;
    index_t size() const { return n; }
    data::Sample operator[](index_t) const { return {{7}, {1}, 3}; }
  };
  const TwoFunctions none{0}, two{2}, negative{-5};
  for (const ConcatDataset<>& set : {ConcatDataset(none, two), ConcatDataset(two, none)}) {
    CHECK(set.size() == 2);
    CHECK(set.sample_sizes() == Sizes{1});
    float sample = 0;
    label_t label = 0;
    set.read(1, &sample, &label);
    CHECK(sample == 7);
    CHECK(label == 3);
  }
  CHECK(ConcatDataset(none, none).size() == 0);
  CHECK(error_of([&] { ConcatDataset(two, negative); }) ==
        "gpunet::data::ConcatDataset: dataset 1 has -5 samples (want 0 or more), check its size()");
}
