#include <doctest/doctest.h>

#include <gpunet/core/math.hpp>

using namespace gpunet;

TEST_CASE("ceil_div") {
  static_assert(ceil_div(0, 5) == 0);
  static_assert(ceil_div(1, 5) == 1);
  static_assert(ceil_div(5, 5) == 1);
  static_assert(ceil_div(6, 5) == 2);
  CHECK(ceil_div((index_t{1} << 40) + 1, 2) == (index_t{1} << 39) + 1);
}

TEST_CASE("round_up") {
  static_assert(round_up(0, 64) == 0);
  static_assert(round_up(1, 64) == 64);
  static_assert(round_up(64, 64) == 64);
  static_assert(round_up(65, 64) == 128);
  CHECK(round_up(7, 1) == 7);
}
