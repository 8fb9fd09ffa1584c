// Shapes: as numbers (Sizes: run-time sizes of a tensor) and as types (Dim, Shape: static sizes of
// one sample).
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/pack.hpp>

namespace gpunet {

// The largest number of elements of an array: no memory holds more, and its size in bytes still
// fits into index_t.
inline constexpr index_t most_elements = index_t{1} << 48;

// A shape as numbers: up to eight extents, outermost first. Never allocates.
class Sizes {
 public:
  static constexpr int max_rank = 8;  // most dimensions

  constexpr Sizes() = default;
  constexpr Sizes(std::initializer_list<index_t> extents) {
    for (index_t n : extents)
      append(n);
  }
  // The same for extents in a vector.
  template <std::integral I>
  Sizes(const std::vector<I>& extents) {
    for (const I n : extents)
      append(static_cast<index_t>(n));
  }

  constexpr int rank() const { return rank_; }
  constexpr index_t operator[](int i) const { return extents_[static_cast<std::size_t>(i)]; }
  // Returns extent `i`, which may be counted from the end: -1 is the last. Throws Error if there is
  // no such dimension.
  constexpr index_t at(int i) const {
    require(rank_ > 0, "gpunet::Sizes: dimension ", i, " of a shape without dimensions");
    require(-rank_ <= i && i < rank_, "gpunet::Sizes: dimension ", i, " of a shape with ", rank_,
            " dimensions (want ", -rank_, " to ", rank_ - 1, ")");
    return (*this)[i < 0 ? i + rank_ : i];
  }
  constexpr const index_t* begin() const { return extents_.data(); }
  constexpr const index_t* end() const { return extents_.data() + rank_; }

  // Returns the number of elements; 1 for rank 0. Meaningful only if at_most() holds for some
  // limit: the product may wrap.
  constexpr index_t numel() const {
    std::uint64_t n = 1;  // unsigned: wrapping is defined, as for [2^62, 2^62, 0]
    for (index_t extent : *this)
      n *= static_cast<std::uint64_t>(extent);
    return static_cast<index_t>(n);
  }

  // Returns whether there are at most `most` elements, without computing a product that would
  // overflow.
  constexpr bool at_most(index_t most) const {
    index_t n = 1;
    for (index_t extent : *this) {
      if (extent == 0) return true;
      if (n > most / extent)
        n = most + 1;  // unless a later extent is 0
      else
        n *= extent;
    }
    return n <= most;
  }

  // Appends an innermost dimension. Throws Error for a ninth dimension or a negative extent.
  constexpr void append(index_t extent) {
    require(rank_ < max_rank, "gpunet::Sizes: more than ", max_rank, " dimensions, join some");
    require(extent >= 0, "gpunet::Sizes: extent ", extent,
            " (want 0 or more), give the extent itself");
    extents_[static_cast<std::size_t>(rank_++)] = extent;
  }

  // Returns the extents without the first: the shape of one sample of a batch.
  constexpr Sizes tail() const {
    Sizes rest;
    for (int i = 1; i < rank_; ++i)
      rest.append((*this)[i]);
    return rest;
  }

  // Returns [first, *this...]: the shape of a batch of samples.
  constexpr Sizes with_front(index_t first) const {
    Sizes all{first};
    for (index_t extent : *this)
      all.append(extent);
    return all;
  }

  friend constexpr bool operator==(const Sizes& a, const Sizes& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<index_t, max_rank> extents_{};
  int rank_ = 0;
};

// Returns the shape as PyTorch prints it: "[4, 3, 32, 32]".
std::string to_string(const Sizes& sizes);

// Returns the shape that two make where they are aligned at their last dimension and an extent of 1
// is repeated; nothing if they do not fit.
std::optional<Sizes> broadcast_shapes(const Sizes& a, const Sizes& b);

namespace detail {

// Returns the number from 0 on of a dimension of a shape with `rank` dimensions. Throws Error if it
// is not there.
int dimension_at(int dim, int rank, std::string_view function);

// A shape seen from one of its dimensions: [outer, length, inner]. Throws Error if it is not there.
struct AlongDimension {
  index_t outer = 1, length = 1, inner = 1;
  Sizes others;  // the other dimensions; with keepdim all, this one with an extent of 1

  AlongDimension() = default;
  AlongDimension(const Sizes& sizes, int dim, bool keepdim, std::string_view function);
};

}  // namespace detail

// Stands for an extent that is known only at run time.
inline constexpr index_t dyn = -1;

// A static extent N: an empty object. Arithmetic on static extents gives static extents.
template <index_t N>
struct Dim {
  static_assert(N >= 0, "gpunet::Dim: an extent is negative, use a number >= 0 or gpunet::dyn");
  constexpr Dim() = default;
  constexpr operator index_t() const { return N; }
};

// A run-time extent.
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

// Returns f(a, b), or nothing if the result does not fit into index_t. (nvcc has no constexpr
// __builtin_add_overflow.)
template <class F>
constexpr std::optional<index_t> checked(F f, index_t a, index_t b) {
  const WideExtent exact = f(WideExtent{a}, WideExtent{b});
  const auto number = static_cast<index_t>(exact);
  if (number != exact) return std::nullopt;
  return number;
}

// Returns f(a, b), a static extent if both are static. Throws Error if the result does not fit into
// index_t.
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
                  "gpunet::Dim: two sizes make a number over 2^63 (no memory holds so many), give "
                  "smaller sizes");
    if constexpr (number.has_value()) return Dim<*number>{};
  }
}

}  // namespace detail

// Return the sum, difference and product: static if both operands are.
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
// Returns the quotient, rounded toward zero.
template <index_t A, index_t B>
constexpr auto operator/(Dim<A> a, Dim<B> b) {
  return detail::combine(a, b, [](auto x, auto y) { return x / y; });
}

// A shape as a type: that of one sample (no batch dimension), outermost extent first, row-major.
// Each extent is a number or `dyn`.
template <index_t... Ns>
struct Shape {
  static constexpr int rank = static_cast<int>(sizeof...(Ns));

  [[no_unique_address]] Pack<Dim<Ns>...> dims{};

  constexpr Shape() = default;
  constexpr explicit Shape(Dim<Ns>... extents) requires(sizeof...(Ns) > 0) : dims(extents...) {}

  // Returns extent I, as a Dim.
  template <std::size_t I>
  constexpr auto at() const {
    return get<I>(dims);
  }

  // Returns the number of elements, as a Dim.
  constexpr auto numel() const {
    return [this]<std::size_t... I>(std::index_sequence<I...>) {
      return (Dim<1>{} * ... * get<I>(dims));
    }
    (std::index_sequence_for<Dim<Ns>...>{});
  }

  // Returns the extents as numbers.
  constexpr Sizes sizes() const {
    return [this]<std::size_t... I>(std::index_sequence<I...>) {
      return Sizes{index_t{get<I>(dims)}...};
    }
    (std::index_sequence_for<Dim<Ns>...>{});
  }
};

template <index_t... Ns>
Shape(Dim<Ns>...) -> Shape<Ns...>;

// Returns a shape whose extent I is another one.
template <std::size_t I, index_t... Ns, index_t N>
constexpr auto with_extent(const Shape<Ns...>& shape, Dim<N> extent) {
  return [&]<std::size_t... J>(std::index_sequence<J...>) {
    const auto pick = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
      if constexpr (K == I)
        return extent;
      else
        return shape.template at<K>();
    };
    return Shape(pick(std::integral_constant<std::size_t, J>{})...);
  }
  (std::index_sequence_for<Dim<Ns>...>{});
}

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/core/shape.ipp>
#endif
