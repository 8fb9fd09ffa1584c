#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/ops/norm.hpp>

#include "support/devices.hpp"

using namespace gpunet;

namespace {

template <class T>
bool is_finite(const std::vector<T>& numbers) {
  const auto n = static_cast<index_t>(numbers.size());
  std::vector<std::byte> scratch(static_cast<std::size_t>(norm_scratch_bytes(n)));
  T result = -1;
  norm<IsFinite>(test_device<Host>(), n, numbers.data(), scratch.data(), &result);
  CHECK((result == 0 || std::isnan(result)));
  return result == 0;
}

}  // namespace

TEST_CASE_TEMPLATE("one number that is not finite is found at every place", T, float, double) {
  constexpr T largest = std::numeric_limits<T>::max(),
              infinite = std::numeric_limits<T>::infinity();
  for (const std::size_t n : {1u, 2u, 15u, 16u, 17u, 31u, 100u, 4097u, 8200u}) {
    std::vector<T> numbers(n, largest);
    numbers[n / 2] = -largest;
    CAPTURE(n);
    CHECK(is_finite(numbers));
    for (std::size_t i = 0; i<n; i += n> 100 ? 211 : 1)
      for (const T bad : {infinite, -infinite, std::numeric_limits<T>::quiet_NaN()}) {
        const T good = numbers[i];
        numbers[i] = bad;
        CHECK_FALSE(is_finite(numbers));
        numbers[i] = good;
      }
  }
  CHECK(is_finite(std::vector<T>{}));
}
