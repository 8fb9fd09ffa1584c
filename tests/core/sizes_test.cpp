#include <doctest/doctest.h>
#include <vector>

#include <gpunet/core/sizes.hpp>

using namespace gpunet;

TEST_CASE("sizes are read by index, by iteration and as a product") {
  constexpr Sizes sizes{4, 3, 32, 16};
  static_assert(sizes.rank() == 4);
  static_assert(sizes[2] == 32);
  static_assert(sizes.numel() == 4 * 3 * 32 * 16);
  CHECK(std::vector<index_t>(sizes.begin(), sizes.end()) == std::vector<index_t>{4, 3, 32, 16});
}

TEST_CASE("no extents at all are one number, an extent of 0 is none") {
  CHECK(Sizes{}.numel() == 1);
  CHECK(Sizes{}.rank() == 0);
  CHECK(Sizes{5, 0, 2}.numel() == 0);
}

TEST_CASE("batches of samples") {
  CHECK(Sizes{4, 3, 2}.tail() == Sizes{3, 2});
  CHECK(Sizes{4}.tail() == Sizes{});
  CHECK(Sizes{}.tail() == Sizes{});
  CHECK(Sizes{3, 2}.with_front(4) == Sizes{4, 3, 2});
  CHECK(Sizes{}.with_front(1) == Sizes{1});
}

TEST_CASE("sizes compare by rank and extents") {
  CHECK(Sizes{2, 3} == Sizes{2, 3});
  CHECK(Sizes{2, 3} != Sizes{3, 2});
  CHECK(Sizes{2, 3} != Sizes{2, 3, 1});
  CHECK(Sizes{2, 3, 4}.tail() == Sizes{9, 3, 4}.tail());
}

TEST_CASE("sizes are printed as PyTorch prints them") {
  CHECK(to_string(Sizes{4, 3, 32, 32}) == "[4, 3, 32, 32]");
  CHECK(to_string(Sizes{7}) == "[7]");
  CHECK(to_string(Sizes{}) == "[]");
}

TEST_CASE("sizes that are not possible") {
  CHECK_THROWS_WITH_AS(Sizes({2, -1}), "gpunet::Sizes: extent -1 is negative", Error);
  Sizes sizes{1, 2, 3, 4, 5, 6, 7, 8};
  CHECK_THROWS_WITH_AS(sizes.append(9), "gpunet::Sizes: more than 8 dimensions", Error);
  CHECK_THROWS_AS(sizes.with_front(9), Error);
  CHECK(sizes == Sizes{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("a number of elements is compared without being computed") {
  constexpr index_t big = index_t{1} << 40;
  CHECK(Sizes{}.at_most(1));
  CHECK_FALSE(Sizes{}.at_most(0));
  CHECK(Sizes{3, 4}.at_most(12));
  CHECK_FALSE(Sizes{3, 4}.at_most(11));
  CHECK_FALSE(Sizes{big, big}.at_most(big));
  CHECK_FALSE(Sizes{big, big, 1}.at_most(big));
  CHECK(Sizes{big, big, 0}.at_most(0));
  CHECK_THROWS_WITH_AS((Sizes{2, 3}.at(2)), "gpunet::Sizes: dimension 2 of a shape with 2 dimensions (want 0 to 1)",
                       Error);
  CHECK(Sizes{2, 3}.at(1) == 3);
}
