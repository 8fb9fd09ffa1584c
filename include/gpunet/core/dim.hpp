// One extent of a shape: static where the type knows it, a number in the object otherwise.
#pragma once

#include <gpunet/core/config.hpp>

namespace gpunet {

// Marks an extent that is given at run time.
inline constexpr index_t dyn = -1;

// An extent N that the type knows: an empty object, of which arithmetic makes further ones.
template <index_t N>
struct Dim {
  static_assert(N >= 0, "gpunet::Dim: an extent is negative, use a number >= 0 or gpunet::dyn");
  constexpr Dim() = default;
  constexpr operator index_t() const { return N; }
};

// One that the run tells.
template <>
struct Dim<dyn> {
  index_t value = 0;
  constexpr Dim() = default;
  constexpr Dim(index_t v) : value(v) {}
  constexpr operator index_t() const { return value; }
};

Dim(index_t)->Dim<dyn>;

namespace detail {

// f applied to two extents; the result is static when both are.
template <index_t A, index_t B, class F>
constexpr auto combine(Dim<A> a, Dim<B> b, F f) {
  if constexpr (A == dyn || B == dyn)
    return Dim<dyn>{f(index_t{a}, index_t{b})};
  else
    return Dim<f(A, B)>{};
}

}  // namespace detail

// The sum, difference and product: static where both are.
template <index_t A, index_t B>
constexpr auto operator+(Dim<A> a, Dim<B> b) {
  return detail::combine(a, b, [](index_t x, index_t y) { return x + y; });
}
template <index_t A, index_t B>
constexpr auto operator-(Dim<A> a, Dim<B> b) {
  return detail::combine(a, b, [](index_t x, index_t y) { return x - y; });
}
template <index_t A, index_t B>
constexpr auto operator*(Dim<A> a, Dim<B> b) {
  return detail::combine(a, b, [](index_t x, index_t y) { return x * y; });
}
// The quotient, rounded towards zero.
template <index_t A, index_t B>
constexpr auto operator/(Dim<A> a, Dim<B> b) {
  return detail::combine(a, b, [](index_t x, index_t y) { return x / y; });
}

}  // namespace gpunet
