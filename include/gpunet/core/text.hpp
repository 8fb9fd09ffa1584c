// Texts for people and for files of text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/core/error.hpp>

namespace gpunet::detail {

// The text with every character that `changes` knows replaced.
std::string escaped(std::string_view text, const std::vector<std::pair<char, std::string_view>>& changes);

// Between tags of XML, or within its quotes.
std::string xml_text(std::string_view text);

// The names in a message, each as show(name) gives it: "a, b, c"; ends after ten with "and 7 more".
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

// How many characters a text in UTF-8 has: all bytes that continue none.
std::size_t characters(std::string_view text);

// With so many digits behind the point, whatever the locale.
std::string fixed_text(double value, int decimals);

// With so many digits at most, as printf's %g has it, whatever the locale.
std::string short_text(double value, int digits);

// Returns Python's repr() of a finite float: the shortest digits that read back the same, with an exponent below 1e-4 and
// from 1e16 on, else with a decimal point.
std::string python_repr(double value);

// Bytes as letters and digits: base 64 of RFC 4648.
std::string base64(std::string_view bytes);

}  // namespace gpunet::detail

#if !GPUNET_COMPILED
#include <gpunet/core/text.ipp>
#endif
