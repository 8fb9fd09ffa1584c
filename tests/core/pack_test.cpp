#include <array>
#include <doctest/doctest.h>
#include <string>
#include <type_traits>
#include <utility>

#include <gpunet/core/pack.hpp>

using namespace gpunet;

namespace {

struct Empty {};

template <std::size_t N>
struct Numbered {
  std::size_t value = N;
};

template <std::size_t... I>
std::size_t sum_of_many(std::index_sequence<I...>) {
  const Pack<Numbered<I>...> pack;
  return (get<I>(pack).value + ...);
}

}  // namespace

TEST_CASE("elements of a pack are found by position, equal types included") {
  const Pack<int, std::string, int, double> pack(1, "two", 3, 4.5);
  CHECK(get<0>(pack) == 1);
  CHECK(get<1>(pack) == "two");
  CHECK(get<2>(pack) == 3);
  CHECK(get<3>(pack) == 4.5);
  static_assert(std::is_same_v<decltype(get<1>(pack)), const std::string&>);
}

TEST_CASE("a pack without arguments holds default values") {
  const Pack<int, std::array<double, 2>> pack;
  CHECK(get<0>(pack) == 0);
  CHECK(get<1>(pack) == std::array{0.0, 0.0});
}

TEST_CASE("empty elements take no room") {
  static_assert(sizeof(Pack<int, Empty, int>) == 2 * sizeof(int));
  static_assert(std::is_empty_v<Pack<Empty>>);
  static_assert(std::is_empty_v<Pack<>>);
}

TEST_CASE("a pack may be long") {
  CHECK(sum_of_many(std::make_index_sequence<200>{}) == 200 * 199 / 2);
}
