#include <cmath>
#include <doctest/doctest.h>
#include <limits>

#include <gpunet/core/math.hpp>

using namespace gpunet;

namespace {

// The largest error over many numbers between the smallest normal one and the largest, in epsilons:
// one unit in the last place is half an epsilon to an epsilon.
template <class T>
double worst_error(T factor) {
  double worst = 0;
  for (T x = std::numeric_limits<T>::min(); x < std::numeric_limits<T>::max() / factor;
       x *= factor) {
    const T root = std::sqrt(x);
    worst = std::max(worst, static_cast<double>(std::abs(square_root(x) - root) / root));
  }
  return worst / static_cast<double>(std::numeric_limits<T>::epsilon());
}

}  // namespace

TEST_CASE("square_root is the square root") {
  CHECK(worst_error(1.00037f) <= 1);
  CHECK(worst_error(1.0037) <= 1);
  CHECK(square_root(0.0f) == 0);
  CHECK(square_root(0.0) == 0);
  CHECK(square_root(4.0f) == 2);
  CHECK(square_root(4.0) == 2);
}

TEST_CASE("square_root at the ends") {
  const float infinity = std::numeric_limits<float>::infinity(), tiny = 1e-40f;
  CHECK(square_root(infinity) == doctest::Approx(std::sqrt(std::numeric_limits<float>::max())));
  CHECK(square_root(tiny) >= 0);
  CHECK(square_root(tiny) <= std::sqrt(tiny));
  CHECK(std::isnan(square_root(std::nanf(""))));
  CHECK(std::isnan(square_root(std::nan(""))));
}

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
