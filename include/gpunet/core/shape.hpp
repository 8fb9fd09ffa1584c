// Shapes as types: what a network knows of one sample at compile time.
#pragma once

#include <gpunet/core/dim.hpp>
#include <gpunet/core/pack.hpp>
#include <gpunet/core/sizes.hpp>

namespace gpunet {

// The shape of one sample (no batch), outermost first, row-major. An extent is static or `dyn`.
template <index_t... Ns>
struct Shape {
  static constexpr int rank = static_cast<int>(sizeof...(Ns));

  [[no_unique_address]] Pack<Dim<Ns>...> dims{};

  constexpr Shape() = default;
  constexpr explicit Shape(Dim<Ns>... extents) requires(sizeof...(Ns) > 0) : dims(extents...) {}

  // Extent I, as a Dim.
  template <std::size_t I>
  constexpr auto at() const {
    return get<I>(dims);
  }

  // Number of elements, as a Dim.
  constexpr auto numel() const {
    return [this]<std::size_t... I>(std::index_sequence<I...>) {
      return (Dim<1>{} * ... * get<I>(dims));
    }
    (std::index_sequence_for<Dim<Ns>...>{});
  }

  // The extents as numbers.
  constexpr Sizes sizes() const {
    return [this]<std::size_t... I>(std::index_sequence<I...>) {
      return Sizes{index_t{get<I>(dims)}...};
    }
    (std::index_sequence_for<Dim<Ns>...>{});
  }
};

template <index_t... Ns>
Shape(Dim<Ns>...) -> Shape<Ns...>;

}  // namespace gpunet
