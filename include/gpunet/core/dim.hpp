// One extent of a shape: static where the type knows it, a number in the object otherwise.
#pragma once

#include <cstdint>
#include <limits>

#include <gpunet/core/error.hpp>

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

// The operations on extents; fits(a, b) says whether the result is an index_t.
struct AddExtents {
  static constexpr bool fits(index_t a, index_t b) {
    using Limits = std::numeric_limits<index_t>;
    return b > 0 ? a <= Limits::max() - b : a >= Limits::min() - b;
  }
  constexpr index_t operator()(index_t a, index_t b) const { return a + b; }
};
struct SubtractExtents {
  static constexpr bool fits(index_t a, index_t b) {
    using Limits = std::numeric_limits<index_t>;
    return b < 0 ? a <= Limits::max() + b : a >= Limits::min() + b;
  }
  constexpr index_t operator()(index_t a, index_t b) const { return a - b; }
};
struct MultiplyExtents {
  static constexpr bool fits(index_t a, index_t b) {
    if (a == 0 || b == 0 || a == 1 || b == 1) return true;
    const auto magnitude = [](index_t n) {
      return n < 0 ? -static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
    };
    return magnitude(a) <= static_cast<std::uint64_t>(std::numeric_limits<index_t>::max()) / magnitude(b);
  }
  constexpr index_t operator()(index_t a, index_t b) const { return a * b; }
};
struct DivideExtents {
  static constexpr bool fits(index_t, index_t) { return true; }
  constexpr index_t operator()(index_t a, index_t b) const { return a / b; }
};

// f applied to two extents; the result is static when both are.
template <index_t A, index_t B, class F>
constexpr auto combine(Dim<A> a, Dim<B> b, F f) {
  if constexpr (A == dyn || B == dyn) {
    require(F::fits(a, b), "gpunet::Dim: the sizes ", index_t{a}, " and ", index_t{b},
            " make a number over 2^63 (no memory holds so many), give smaller sizes");
    return Dim<dyn>{f(index_t{a}, index_t{b})};
  } else {
    static_assert(F::fits(A, B),
                  "gpunet::Dim: two sizes make a number over 2^63 (no memory holds so many), give smaller sizes");
    if constexpr (F::fits(A, B)) return Dim<f(A, B)>{};
  }
}

}  // namespace detail

// The sum, difference and product: static where both are.
template <index_t A, index_t B>
constexpr auto operator+(Dim<A> a, Dim<B> b) {
  return detail::combine(a, b, detail::AddExtents{});
}
template <index_t A, index_t B>
constexpr auto operator-(Dim<A> a, Dim<B> b) {
  return detail::combine(a, b, detail::SubtractExtents{});
}
template <index_t A, index_t B>
constexpr auto operator*(Dim<A> a, Dim<B> b) {
  return detail::combine(a, b, detail::MultiplyExtents{});
}
// The quotient, rounded towards zero.
template <index_t A, index_t B>
constexpr auto operator/(Dim<A> a, Dim<B> b) {
  return detail::combine(a, b, detail::DivideExtents{});
}

}  // namespace gpunet
