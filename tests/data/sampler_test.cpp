#include <doctest/doctest.h>

#include <gpunet/data/sampler.hpp>

#include "support/draw_order.hpp"

// All expected values were printed by PyTorch 2.15: a DataLoader over
// TensorDataset(torch.arange(n)), num_workers 0 and 2.

using namespace gpunet;
using Order = std::vector<index_t>;

TEST_CASE("shuffled epochs come in the order of PyTorch's DataLoader") {
  manual_seed(0);
  CHECK(draw_order(10, data::RandomSampler(10)) == Order{6, 7, 1, 4, 2, 0, 9, 8, 3, 5});
  CHECK(draw_order(10, data::RandomSampler(10)) == Order{2, 4, 7, 0, 8, 9, 5, 3, 6, 1});
  CHECK(draw_order(10, data::RandomSampler(10)) == Order{7, 4, 5, 1, 9, 3, 8, 2, 0, 6});
  CHECK(default_generator().random63() == 8072059273656089175);
  manual_seed(0);
  CHECK(draw_order(7, data::RandomSampler(7)) == Order{0, 4, 1, 5, 2, 6, 3});
  CHECK(draw_order(7, data::RandomSampler(7)) == Order{3, 1, 4, 2, 5, 0, 6});
}

TEST_CASE("a large set is shuffled as PyTorch does") {
  manual_seed(3);
  for (std::uint64_t expected : {17233268686794722938u, 4084427424446809394u}) {
    std::uint64_t hash = 0;  // computed in Python as h = (h * 31 + i) % 2**64
    for (index_t i : draw_order(50000, data::RandomSampler(50000)))
      hash = hash * 31 + static_cast<std::uint64_t>(i);
    CHECK(hash == expected);
  }
}

TEST_CASE("an epoch in order draws the workers' seed all the same") {
  manual_seed(0);
  for (int epoch = 0; epoch < 3; ++epoch)
    CHECK(draw_order(5, std::nullopt) == Order{0, 1, 2, 3, 4});
  CHECK(default_generator().random63() == 827948490035658087);
}

TEST_CASE("another generator leaves the default one alone") {
  Generator own(0);
  manual_seed(1);
  CHECK(draw_order(10, data::RandomSampler(10), own) == Order{6, 7, 1, 4, 2, 0, 9, 8, 3, 5});
  CHECK(default_generator().random63() == 7692698082559361259);
}
