// Arithmetic for kernels: integer division and square roots.
#pragma once

#include <limits>
#include <type_traits>

#include <gpunet/core/config.hpp>

namespace gpunet {

// Returns the smallest integer >= a / b, for a >= 0 and b > 0.
GPUNET_FN constexpr index_t ceil_div(index_t a, index_t b) {
  return (a + b - 1) / b;
}

// Returns the smallest multiple of b that is >= a.
GPUNET_FN constexpr index_t round_up(index_t a, index_t b) {
  return ceil_div(a, b) * b;
}

namespace detail {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == sizeof(std::int32_t), std::int32_t, std::int64_t>;

// A variable: kernels cannot call numeric_limits.
template <class T>
inline constexpr T largest = std::numeric_limits<T>::max();

// Returns 1 / sqrt(x), accurate to 3.5 %, of the number with the bits x: shifting halves the
// exponent, subtracting negates it. The constants minimize the error.
template <class T>
GPUNET_FN T guess_inverse_root(BitsOf<T> x) {
  constexpr BitsOf<T> magic =
      static_cast<BitsOf<T>>(sizeof(T) == 4 ? 0x5f3759df : 0x5fe6eb50c7b537a9);
  return __builtin_bit_cast(T, magic - (x >> 1));
}

}  // namespace detail

// Returns the square root of x >= 0, accurate to one unit in the last place. Plain arithmetic, so
// loops that call it are vectorized: std::sqrt may have to set errno, which prevents that. A
// subnormal x gives a number between 0 and its root, infinity the root of the largest finite
// number.
template <class T>
GPUNET_FN T square_root(T x) {
  using Bits = detail::BitsOf<T>;
  const Bits is_infinite = x > detail::largest<T>;
  // The next smaller number; a branch would prevent vectors.
  const Bits bits = __builtin_bit_cast(Bits, x) - is_infinite;
  x = __builtin_bit_cast(T, bits);
  T inverse = detail::guess_inverse_root<T>(bits);
  const auto refine = [&] {  // Newton's method: squares the relative error
    inverse *= T{1.5} - T{0.5} * x * inverse * inverse;
  };
  refine();
  refine();
  if constexpr (sizeof(T) > sizeof(float)) refine();
  const T root = x * inverse;
  return root + T{0.5} * inverse * (x - root * root);  // Heron's method: squares it once more
}

}  // namespace gpunet
