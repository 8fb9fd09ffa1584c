#include <doctest/doctest.h>
#include <limits>
#include <type_traits>

#include <gpunet/core/dim.hpp>

using namespace gpunet;

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
  constexpr index_t most = std::numeric_limits<index_t>::max(), least = std::numeric_limits<index_t>::min();
  const Dim large(most), half(most / 2), two(index_t{2});
  CHECK_THROWS_WITH_AS(
      large + two,
      "gpunet::Dim: the sizes 9223372036854775807 and 2 make a number over 2^63 (no memory holds so "
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
