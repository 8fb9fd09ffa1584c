// sin, cos and tan of single floats up to largest_circular: without branches and calls, so that
// compilers vectorize loops over them. sin and cos to 2 units in the last place; tan, which is
// computed in doubles, to 0.51.
//
// x = n pi / 2 + r in doubles, |r| < pi / 4, with an integer n of at most 20 bits; then polynomials
// in r^2, fitted to the smallest relative error, 2^-37 that of sin r and 2^-33 that of cos r.
#pragma once

#include <cstdint>

#include <gpunet/device/host/scalar_math.hpp>

namespace gpunet::scalar {

// The largest number for which n has 20 bits.
inline constexpr float largest_circular = 0x1p20f;

// The rest r, and n modulo 2^32.
struct Quarters {
  double rest;
  Mask n;
};

// Returns the rest of a number, at most largest_circular.
[[gnu::always_inline]] inline Quarters quarters_of(float number) {
  const double x = static_cast<double>(number);
  constexpr double shift = 0x1.8p52;  // has no bits after the point: adding it rounds
  const double shifted = x * 0x1.45f306dc9c883p-1 + shift, n = shifted - shift;
  std::int64_t bits;
  __builtin_memcpy(&bits, &shifted, sizeof bits);
  // pi / 2 in two parts, the first of 33 bits, whose product with n is exact.
  return {x - n * 0x1.921fb544p0 - n * 0x1.0b4611a626331p-34, static_cast<Mask>(bits)};
}

// Return sin r and cos r.
template <class T>
[[gnu::always_inline]] inline T sin_of_rest(T r) {
  const T square = r * r;
  T p = square * T(2.718121649422507e-6) - T(1.983931227218911e-4);
  p = p * square + T(8.333329304851175e-3);
  p = p * square - T(1.6666666640797076e-1);
  return r + r * (square * p);
}
template <class T>
[[gnu::always_inline]] inline T cos_of_rest(T r) {
  const T square = r * r;
  T p = square * T(2.4383567275776256e-5) - T(1.3886681647996678e-3);
  p = p * square + T(4.166662035716296e-2);
  p = p * square - T(4.999999969447733e-1);
  return p * square + T(1);
}

// sin(n pi / 2 + r): sin r for an even n, cos r for an odd one, negative in the second half of four
// quarters.
[[gnu::always_inline]] inline float sin_of_quarters(const Quarters& x, Mask n) {
  const float r = static_cast<float>(x.rest);
  return as_floats(as_bits(select(-(n & 1), cos_of_rest(r), sin_of_rest(r))) ^ (n & 2) << 30);
}

// Odd functions: of |x|, with the sign of x, that of 0 included.
[[gnu::always_inline]] inline float sin(float x) {
  const Mask sign = as_bits(x) & std::numeric_limits<Mask>::min();
  const Quarters of = quarters_of(as_floats(as_bits(x) ^ sign));
  return as_floats(as_bits(sin_of_quarters(of, of.n)) ^ sign);
}
[[gnu::always_inline]] inline float cos(float x) {
  const Quarters of = quarters_of(x);
  return sin_of_quarters(of, of.n + 1);
}
// s / c, or -c / s for an odd n.
[[gnu::always_inline]] inline float tan(float x) {
  const Mask sign = as_bits(x) & std::numeric_limits<Mask>::min();
  const Quarters of = quarters_of(as_floats(as_bits(x) ^ sign));
  const double s = sin_of_rest(of.rest), c = cos_of_rest(of.rest);
  const double is_odd = static_cast<double>(of.n & 1), is_even = 1.0 - is_odd;
  const double y = (is_even * s - is_odd * c) / (is_even * c + is_odd * s);
  return as_floats(as_bits(static_cast<float>(y)) ^ sign);
}

}  // namespace gpunet::scalar
