#include <doctest/doctest.h>
#include <limits>
#include <type_traits>
#include <vector>

#include <gpunet/core/shape.hpp>

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
  CHECK_THROWS_WITH_AS(Sizes({2, -1}),
                       "gpunet::Sizes: extent -1 (want 0 or more), give the extent itself", Error);
  Sizes sizes{1, 2, 3, 4, 5, 6, 7, 8};
  CHECK_THROWS_WITH_AS(sizes.append(9), "gpunet::Sizes: more than 8 dimensions, join some", Error);
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
  CHECK_THROWS_WITH_AS((Sizes{2, 3}.at(2)),
                       "gpunet::Sizes: dimension 2 of a shape with 2 dimensions (want -2 to 1)",
                       Error);
  CHECK(Sizes{2, 3}.at(1) == 3);
  CHECK_THROWS_WITH_AS(Sizes{}.at(0), "gpunet::Sizes: dimension 0 of a shape without dimensions",
                       Error);
}

TEST_CASE("arithmetic of static extents stays static") {
  static_assert(std::is_same_v<decltype(Dim<7>{} + Dim<3>{}), Dim<10>>);
  static_assert(std::is_same_v<decltype(Dim<7>{} - Dim<3>{}), Dim<4>>);
  static_assert(std::is_same_v<decltype(Dim<7>{} * Dim<3>{}), Dim<21>>);
  static_assert(std::is_same_v<decltype(Dim<7>{} / Dim<3>{}), Dim<2>>);
  static_assert(std::is_same_v<decltype(Dim<2>{} * Dim<3>{} * Dim<4>{} + Dim<1>{}), Dim<25>>);
  static_assert(std::is_same_v<decltype(Dim<3>{} - Dim<3>{}), Dim<0>>);
  static_assert(std::is_empty_v<Dim<5>>);
  static_assert(Dim<5>{} == 5);
}

TEST_CASE("one dynamic extent makes the result dynamic") {
  static_assert(std::is_same_v<decltype(Dim<7>{} + Dim{index_t{3}}), Dim<dyn>>);
  static_assert(std::is_same_v<decltype(Dim{index_t{3}} * Dim<7>{}), Dim<dyn>>);
  const Dim seven(index_t{7}), three(index_t{3});
  CHECK(index_t{seven + three} == 10);
  CHECK(index_t{seven - Dim<3>{}} == 4);
  CHECK(index_t{Dim<7>{} * three} == 21);
  CHECK(index_t{seven / three} == 2);
  CHECK(index_t{Dim<dyn>{}} == 0);
  constexpr Dim<dyn> at_compile_time = Dim<dyn>(4) * Dim<5>{};
  static_assert(at_compile_time == 20);
}

TEST_CASE("extents that are no number are refused") {
  constexpr index_t most = std::numeric_limits<index_t>::max(),
                    least = std::numeric_limits<index_t>::min();
  const Dim large(most), half(most / 2), two(index_t{2});
  CHECK_THROWS_WITH_AS(large + two,
                       "gpunet::Dim: the sizes 9223372036854775807 and 2 make a number over 2^63 "
                       "(no memory holds so "
                       "many), give smaller sizes",
                       Error);
  CHECK_THROWS_AS(half * Dim{index_t{3}}, Error);
  CHECK_THROWS_AS(Dim{index_t{-2}} - large, Error);
  CHECK(index_t{half * two} == most - 1);
  CHECK(index_t{large + Dim<0>{}} == most);
  CHECK(index_t{Dim{index_t{-1}} - large} == least);
  CHECK(index_t{Dim{index_t{-3}} * two} == -6);
  CHECK(index_t{Dim{least} * Dim<1>{}} == least);
  CHECK_THROWS_AS(Dim{least} * two, Error);
}

TEST_CASE("a static shape is known to the compiler") {
  constexpr Shape<3, 32, 16> shape;
  static_assert(shape.rank == 3);
  static_assert(std::is_same_v<decltype(shape.at<1>()), Dim<32>>);
  static_assert(std::is_same_v<decltype(shape.numel()), Dim<1536>>);
  CHECK(shape.sizes() == Sizes{3, 32, 16});
}

TEST_CASE("a shape with extents given at run time") {
  const Shape shape(Dim<3>{}, Dim(index_t{5}), Dim(index_t{7}));
  static_assert(std::is_same_v<decltype(shape), const Shape<3, dyn, dyn>>);
  static_assert(std::is_same_v<decltype(shape.at<0>()), Dim<3>>);
  static_assert(std::is_same_v<decltype(shape.numel()), Dim<dyn>>);
  CHECK(index_t{shape.at<1>()} == 5);
  CHECK(index_t{shape.at<2>()} == 7);
  CHECK(index_t{shape.numel()} == 105);
  CHECK(shape.sizes() == Sizes{3, 5, 7});
}

TEST_CASE("equal extents are not mixed up") {
  const Shape shape(Dim(index_t{4}), Dim(index_t{4}), Dim<4>{}, Dim<4>{});
  CHECK(shape.sizes() == Sizes{4, 4, 4, 4});
  CHECK(index_t{shape.numel()} == 256);
}

TEST_CASE("the shape of a single number") {
  static_assert(Shape<>::rank == 0);
  static_assert(std::is_same_v<decltype(Shape<>{}.numel()), Dim<1>>);
  CHECK(Shape<>{}.sizes() == Sizes{});
}
