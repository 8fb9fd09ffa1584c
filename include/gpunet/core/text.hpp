// Helpers for text in messages and files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/core/error.hpp>

namespace gpunet::detail {

// Returns a text that ends with the type, as "... [with L = gpunet::nn::Conv2d<6, 5>]".
template <class L>
const char* signature() {
  return __PRETTY_FUNCTION__;
}

// Returns the text with each character replaced that `changes` maps to another text.
std::string escaped(std::string_view text,
                    const std::vector<std::pair<char, std::string_view>>& changes);

// Returns the text escaped for XML, between tags or in quotation marks.
std::string xml_text(std::string_view text);

// Returns show(name) of each name, for messages: "a, b, c"; after ten names it ends with "and 7
// more".
template <class Names, class Show>
std::string short_list(const Names& names, Show show) {
  constexpr std::size_t most = 10;
  std::string out;
  std::size_t n = 0;
  for (const auto& name : names) {
    if (n++ == most) return concat(out, " and ", names.size() - most, " more");
    out += concat(out.empty() ? "" : ", ", show(name));
  }
  return out;
}

// Returns the text with the letters A to Z in lower case.
std::string lower_case(std::string text);

// Returns whether a byte of UTF-8 continues a character.
constexpr bool is_continuation(char byte) {
  return (byte & 0xC0) == 0x80;
}

// Returns the number of characters of a UTF-8 text: bytes that are not continuation bytes.
std::size_t characters(std::string_view text);

// Returns the number with `decimals` digits after the decimal point, in any locale.
std::string fixed_text(double value, int decimals);

// Returns the number with at most `digits` significant digits, as printf's %g, in any locale.
std::string short_text(double value, int digits);

// Returns Python's repr() of a finite float: the shortest digits that read back the same, with an
// exponent below 1e-4 and from 1e16 on, else with a decimal point.
std::string python_repr(double value);

// A line in which one of several texts differs from the first one; "nothing" behind its end.
struct LineDifference {
  std::size_t text;
  std::string_view line, of_first;
};
// Returns that of the first text that differs, nullopt if all are equal.
std::optional<LineDifference> first_difference(const std::vector<std::string>& texts);

// Returns the bytes in base 64 (RFC 4648).
std::string base64(std::string_view bytes);

}  // namespace gpunet::detail

namespace gpunet {

// Returns whether a pattern names a parameter, or a part of the network that it belongs to: "fc" is
// that of "fc.weight". A * stands for any characters, a ? for one.
bool names_parameter(std::string_view pattern, std::string_view name);

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/core/text.ipp>
#endif
