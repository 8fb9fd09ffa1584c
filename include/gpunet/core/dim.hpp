// One extent of a shape: static where the type knows it, a number in the object otherwise.
#pragma once

#include <optional>

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

__extension__ typedef __int128 WideExtent;

// f applied to two numbers; nothing where the result is no index_t. nvcc has no constexpr __builtin_add_overflow.
template <class F>
constexpr std::optional<index_t> checked(F f, index_t a, index_t b) {
  const WideExtent exact = f(WideExtent{a}, WideExtent{b});
  const auto number = static_cast<index_t>(exact);
  if (number != exact) return std::nullopt;
  return number;
}

// f applied to two extents; the result is static when both are.
template <index_t A, index_t B, class F>
constexpr auto combine(Dim<A> a, Dim<B> b, F f) {
  if constexpr (A == dyn || B == dyn) {
    const std::optional<index_t> number = checked(f, a, b);
    require(number.has_value(), "gpunet::Dim: the sizes ", index_t{a}, " and ", index_t{b},
            " make a number over 2^63 (no memory holds so many), give smaller sizes");
    return Dim<dyn>{*number};
  } else {
    constexpr std::optional<index_t> number = checked(F{}, A, B);
    static_assert(number.has_value(),
                  "gpunet::Dim: two sizes make a number over 2^63 (no memory holds so many), give smaller sizes");
    if constexpr (number.has_value()) return Dim<*number>{};
  }
}

}  // namespace detail

// The sum, difference and product: static where both are.
template <index_t A, index_t B>
constexpr auto operator+(Dim<A> a, Dim<B> b) {
  return detail::combine(a, b, [](auto x, auto y) { return x + y; });
}
template <index_t A, index_t B>
constexpr auto operator-(Dim<A> a, Dim<B> b) {
  return detail::combine(a, b, [](auto x, auto y) { return x - y; });
}
template <index_t A, index_t B>
constexpr auto operator*(Dim<A> a, Dim<B> b) {
  return detail::combine(a, b, [](auto x, auto y) { return x * y; });
}
// The quotient, rounded towards zero.
template <index_t A, index_t B>
constexpr auto operator/(Dim<A> a, Dim<B> b) {
  return detail::combine(a, b, [](auto x, auto y) { return x / y; });
}

}  // namespace gpunet
