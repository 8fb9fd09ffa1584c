// A string as a template argument: Named<"conv1", ...>.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpunet {

// N - 1 characters and a zero, made of a literal.
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
