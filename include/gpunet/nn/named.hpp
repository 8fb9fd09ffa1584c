// A layer with a name.
#pragma once

#include <cstddef>
#include <string_view>

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

// The layer L under another name in the state dict: Named<"conv1", Conv2d<6, 5>> has "conv1.weight". A name with a dot,
// "block.0", is the key of a layer in a block and printed as such.
template <FixedString Name, class L>
struct Named : L {
  using unnamed = L;  // nvcc cannot deduce L from a Named with a string among its template arguments
  static constexpr std::string_view name = Name.view();
  static_assert(!name.empty(), "gpunet::nn::Named: the name is empty, give the layer a name or leave Named out");

  constexpr Named() = default;
  constexpr explicit Named(L layer) : L(layer) {}
};

}  // namespace gpunet::nn
