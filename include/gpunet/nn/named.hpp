// A layer with a name.
#pragma once

#include <cstddef>
#include <string_view>

#include <gpunet/core/refused.hpp>

namespace gpunet {

// A string literal as a template argument, with its terminating zero.
template <std::size_t N>
struct FixedString {
  char text[N]{};

  constexpr FixedString() = default;
  consteval FixedString(const char (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i)
      text[i] = literal[i];
  }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

}  // namespace gpunet

namespace gpunet::nn {

// The layer L under another name in the state dict: Named<"conv1", Conv2d<6, 5>> has
// "conv1.weight". A name with a dot, "block.0", is the key of a layer in a block and printed as
// such.
template <FixedString Name, class L = gpunet::detail::WrongArguments>
struct Named : L {
  // nvcc cannot deduce L from a Named with a string among its template arguments.
  using unnamed = L;
  static constexpr std::string_view name = Name.view();
  static_assert(!name.empty(),
                "gpunet::nn::Named: the name is empty, give the layer a name or leave Named out");

  constexpr Named() = default;
  constexpr explicit Named(L layer) : L(layer) {}
};

// Returns a layer with run-time sizes under another name: Sequential(Input{n},
// named<"fc1">(Linear{20}), ReLU{}).
template <FixedString Name, class L>
constexpr Named<Name, L> named(L layer) {
  return Named<Name, L>(layer);
}

// Gives the compiler one clear error for a name without the type of its layer.
template <FixedString Name, gpunet::detail::Wrong L>
struct Named<Name, L> : gpunet::detail::AnyArguments {
  static_assert(gpunet::detail::never<L>,
                "gpunet::nn::Named: a name without the type of its layer (it does not follow from "
                "the argument of a type), write nn::named<name>(nn::Linear{n}), or nn::Named<name, "
                "nn::Linear<8>>");
  using AnyArguments::AnyArguments;
};

}  // namespace gpunet::nn
