// A tuple that is cheap to compile for long lists of types.
#pragma once

#include <cstddef>
#include <utility>

namespace gpunet {

namespace detail {

template <std::size_t I, class T>
struct Slot {
  [[no_unique_address]] T value{};
};

template <class Indices, class... Ts>
struct PackOf;

template <std::size_t... I, class... Ts>
struct PackOf<std::index_sequence<I...>, Ts...> : Slot<I, Ts>... {
  static constexpr std::size_t size = sizeof...(Ts);
  constexpr PackOf() = default;
  constexpr explicit PackOf(Ts... values) requires(sizeof...(Ts) > 0)
      : Slot<I, Ts>{std::move(values)}... {}
};

}  // namespace detail

// Holds one value of each type. Each element is a direct base, so get<I> is one overload resolution
// instead of a recursion: 200 layers stay cheap to compile.
template <class... Ts>
using Pack = detail::PackOf<std::index_sequence_for<Ts...>, Ts...>;

template <std::size_t I, class T>
constexpr const T& get(const detail::Slot<I, T>& slot) {
  return slot.value;
}

}  // namespace gpunet
