#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

#include <gpunet/ops/for_each_random.hpp>
#include <gpunet/tensor/guarded_buffer.hpp>

#include "support/devices.hpp"

using namespace gpunet;

namespace {

std::vector<std::uint32_t> words_of(const PhiloxWords& words) {
  return {words.words, words.words + 4};
}

// The numbers of a slice, by sample and feature.
std::vector<std::vector<float>> numbers(const Slice& slice, index_t first_sample,
                                        index_t features) {
  const std::uint64_t step = 7;
  const OpRandom random({42, &step}, 3, slice, first_sample, features);
  std::vector<std::vector<float>> all;
  for (index_t n = 0; n < slice.count; ++n) {
    all.emplace_back();
    for (index_t k = 0; k < features; ++k)
      all.back().push_back(random.uniform(slice.offset(n, k, features)));
  }
  return all;
}

}  // namespace

// The lines "philox4x32 10" of kat_vectors, the known answers of Random123.
TEST_CASE("Philox has the published words") {
  using Words = std::vector<std::uint32_t>;
  CHECK(words_of(philox({{0, 0, 0, 0}}, 0, 0)) ==
        Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t ones = 0xffffffff;
  CHECK(words_of(philox({{ones, ones, ones, ones}}, ones, ones)) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(words_of(philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822,
                        0x299f31d0)) == Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random numbers of an op belong to samples and features, however the batch is cut") {
  for (const index_t features : {1, 4, 7}) {
    const auto rows = numbers({32, 32, 1}, 0, features);
    for (const Slice& slice :
         {Slice{16, 1, 16}, Slice{4, 1, 4}, Slice{8, 2, 4}, Slice{3, 3, 1}, Slice{3, 1, 4}}) {
      const auto part = numbers(slice, 16, features);
      for (std::size_t n = 0; n < part.size(); ++n)
        CHECK(part[n] == rows[16 + n]);
    }
  }
}

namespace {

// numbers[i] = u
struct StoreNumber {
  float* numbers;
  GPUNET_FN void operator()(index_t i, float u) const { numbers[i] = u; }
};

}  // namespace

TEST_CASE_TEMPLATE("for_each_random calls a functor once for each element, with its number", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice :
       {Slice{3, 3, 1}, Slice{30, 2, 16}, Slice{8, 2, 4}, Slice{100, 5, 20}, Slice{600, 600, 1}})
    for (const index_t features : {1, 4, 7, 130}) {
      Buffer<std::uint64_t, D> step(device, 1);
      const std::uint64_t number = 7;
      device.upload(step.data(), &number, sizeof number);
      GuardedBuffer<float, D> numbers(device, slice.samples() * features);
      const OpRandom random({42, step.data()}, 3, slice, 5, features);
      const OpPass pass{slice, 5, features, features, nn::Mode::train, random, nullptr};
      for_each_random(device, pass, StoreNumber{numbers.data()});
      const OpRandom expected({42, &number}, 3, slice, 5, features);
      const std::vector<float> all = numbers.download();
      index_t equal = 0;
      for (index_t i = 0; i < slice.samples() * features; ++i)
        equal += all[static_cast<std::size_t>(i)] == expected.uniform(i);
      CHECK(equal == slice.samples() * features);
    }
}

TEST_CASE("random numbers of an op differ by seed, step, node, element and draw, and are uniform") {
  const std::uint64_t first = 1, second = 2;
  const Slice slice{100, 100, 1};
  const auto all = [&](std::uint64_t seed, const std::uint64_t* step, int node,
                       std::uint32_t draw) {
    const OpRandom random({seed, step}, node, slice, 0, 100);
    std::vector<float> values;
    for (index_t i = 0; i < 10'000; ++i)
      values.push_back(random.uniform(i, draw));
    return values;
  };
  const std::vector<float> values = all(5, &first, 1, 0);
  for (const std::vector<float>& others :
       {all(6, &first, 1, 0), all(5, &second, 1, 0), all(5, &first, 2, 0), all(5, &first, 1, 1),
        all(5, &first, 1, 256)}) {
    index_t equal = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      equal += values[i] == others[i];
    CHECK(equal < 10);
  }
  std::vector<float> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted.front() >= 0);
  CHECK(sorted.back() < 1);
  float worst = 0;  // the statistic of Kolmogorov and Smirnov: 0.0195 for a probability of 0.001
  for (std::size_t i = 0; i < sorted.size(); ++i)
    worst = std::max(worst, std::abs(sorted[i] - (static_cast<float>(i) + 0.5f) / 10'000));
  CHECK(worst < 0.0195f);
}
