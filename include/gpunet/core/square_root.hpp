// A square root that loops over arrays can compute in vectors.
#pragma once

#include <limits>
#include <type_traits>

#include <gpunet/core/config.hpp>

namespace gpunet {

namespace detail {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == sizeof(std::int32_t), std::int32_t, std::int64_t>;

template <class T>
inline constexpr T largest = std::numeric_limits<T>::max();

// 1 / sqrt(x) to 3.5 %: the exponent halved and turned round. The constants are those that err least.
template <class T>
GPUNET_FN T guess_inverse_root(BitsOf<T> x) {
  constexpr BitsOf<T> turn = static_cast<BitsOf<T>>(sizeof(T) == 4 ? 0x5f3759df : 0x5fe6eb50c7b537a9);
  return __builtin_bit_cast(T, turn - (x >> 1));
}

}  // namespace detail

// The square root of x >= 0 to one unit in the last place, by arithmetic alone: std::sqrt may have to set errno, which
// keeps compilers from vectorising it. Subnormal x give something between 0 and their root, infinity that of the
// largest number.
template <class T>
GPUNET_FN T square_root(T x) {
  using Bits = detail::BitsOf<T>;
  const Bits is_infinite = x > detail::largest<T>;
  const Bits bits =
      __builtin_bit_cast(Bits, x) - is_infinite;  // the next smaller one; branches would not vectorise
  x = __builtin_bit_cast(T, bits);
  T inverse = detail::guess_inverse_root<T>(bits);
  const auto refine = [&] {
    inverse *= T{1.5} - T{0.5} * x * inverse * inverse;
  };  // Newton: squares the error
  refine();
  refine();
  if constexpr (sizeof(T) > sizeof(float)) refine();
  const T root = x * inverse;
  return root + T{0.5} * inverse * (x - root * root);  // Heron: squares it once more
}

}  // namespace gpunet
