// Blocks of layers within a network. Their layers join those of the network, under dotted names: what runs is one list.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <gpunet/core/fixed_string.hpp>
#include <gpunet/core/pack.hpp>
#include <gpunet/nn/named.hpp>

namespace gpunet::nn::detail {

// The name that Named gave the layer, or none.
template <class L>
constexpr std::string_view given_name() {
  if constexpr (requires { L::name; })
    return L::name;
  else
    return {};
}

// The layer without the name that Named gave it.
template <class L>
struct Unnamed {
  using type = L;
};
template <class L>
requires requires {
  typename L::unnamed;
}
struct Unnamed<L> : Unnamed<typename L::unnamed> {};

template <class L>
inline constexpr bool is_block = requires {
  requires L::is_block;
};
template <class L>
inline constexpr bool is_network = requires {
  requires L::is_network;
};

constexpr std::size_t digits_of(std::size_t i) {
  return i < 10 ? 1 : 1 + digits_of(i / 10);
}

// What the I-th of some layers is called: its name, or I.
template <std::size_t I, class L>
constexpr auto key() {
  constexpr std::string_view given = given_name<L>();
  constexpr std::size_t size = given.empty() ? digits_of(I) : given.size();
  FixedString<size + 1> out;
  for (std::size_t at = size, rest = I; at-- > 0; rest /= 10)
    out.text[at] = given.empty() ? static_cast<char>('0' + rest % 10) : given[at];
  return out;
}

// "features" and "0": "features.0"
template <std::size_t A, std::size_t B>
constexpr FixedString<A + B> dotted(const FixedString<A>& block, const FixedString<B>& layer) {
  FixedString<A + B> out;
  for (std::size_t i = 0; i < A + B - 1; ++i)
    out.text[i] = i < A - 1 ? block.text[i] : i == A - 1 ? '.' : layer.text[i - A];
  return out;
}

// Return types are left to the compiler: nvcc takes one spelled with a Named for another.
template <class... Ts>
constexpr auto make_pack(const Ts&... values) {
  return Pack<Ts...>(values...);
}

template <FixedString Name, class L>
constexpr auto renamed(const L& layer) {
  using Plain = typename Unnamed<L>::type;
  return Named<Name, Plain>(static_cast<const Plain&>(layer));
}

// The layers of a block, the I-th of some layers, under dotted names.
template <std::size_t I, class Block, std::size_t... J, class... Layers>
constexpr auto under(const gpunet::detail::PackOf<std::index_sequence<J...>, Layers...>& layers) {
  return make_pack(renamed<dotted(key<I, Block>(), key<J, Layers>())>(get<J>(layers))...);
}

// For a fold: packs one after another.
template <class P>
struct Joined {
  P pack;
};
template <std::size_t... I, class... A, std::size_t... J, class... B>
constexpr auto join(const gpunet::detail::PackOf<std::index_sequence<I...>, A...>& a,
                    const gpunet::detail::PackOf<std::index_sequence<J...>, B...>& b) {
  return make_pack(get<I>(a)..., get<J>(b)...);
}
template <class P, class Q>
constexpr auto operator+(const Joined<P>& a, const Joined<Q>& b) {
  return Joined<decltype(join(a.pack, b.pack))>{join(a.pack, b.pack)};
}

// What the I-th of some layers brings into the list: itself, or the layers of the block that it is.
template <std::size_t I, class L>
constexpr auto leaves_of(const L& layer) {
  if constexpr (is_block<L>) {
    const auto leaves = under<I, L>(layer.leaves());
    return Joined<std::remove_const_t<decltype(leaves)>>{leaves};
  } else {
    const auto leaf = make_pack(renamed<key<I, L>()>(layer));
    return Joined<std::remove_const_t<decltype(leaf)>>{leaf};
  }
}

// All layers in one list; where none is a block, as they are.
template <std::size_t... I, class... Layers>
constexpr auto flat(const gpunet::detail::PackOf<std::index_sequence<I...>, Layers...>& layers) {
  if constexpr ((is_block<Layers> || ...))
    return (leaves_of<I>(get<I>(layers)) + ...).pack;
  else
    return layers;
}

}  // namespace gpunet::nn::detail
