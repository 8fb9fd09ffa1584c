// Bodies of text.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include <gpunet/core/text.hpp>

namespace gpunet::detail {

GPUNET_INLINE std::string escaped(std::string_view text,
                                  const std::vector<std::pair<char, std::string_view>>& changes) {
  std::string out;
  for (const char c : text) {
    const auto change = std::find_if(changes.begin(), changes.end(),
                                     [c](const auto& one) { return one.first == c; });
    out += change == changes.end() ? std::string_view(&c, 1) : change->second;
  }
  return out;
}

GPUNET_INLINE std::string xml_text(std::string_view text) {
  return escaped(text, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}});
}

GPUNET_INLINE std::string lower_case(std::string text) {
  for (char& c : text)
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

GPUNET_INLINE std::size_t characters(std::string_view text) {
  return text.size() -
         static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_continuation));
}

GPUNET_INLINE std::string fixed_text(double value, int decimals) {
  std::array<char, 384> digits;  // a double has at most 309 before the point
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                          std::chars_format::fixed, std::min(decimals, 64));
  return {digits.data(), end};
}

GPUNET_INLINE std::string short_text(double value, int digits) {
  std::array<char, 384> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                          std::chars_format::general, std::min(digits, 64));
  return {text.data(), end};
}

GPUNET_INLINE std::string python_repr(double value) {
  const double size = std::abs(value);
  const bool exponent = size != 0 && (size < 1e-4 || size >= 1e16);
  char digits[64];
  const auto format = exponent ? std::chars_format::scientific : std::chars_format::fixed;
  std::string out(digits, std::to_chars(digits, digits + sizeof digits, value, format).ptr);
  if (!exponent && out.find('.') == std::string::npos) out += ".0";
  return out;
}

GPUNET_INLINE std::optional<LineDifference> first_difference(
    const std::vector<std::string>& texts) {
  const auto next_line = [](std::string_view& text) -> std::string_view {
    if (text.empty()) return "nothing";
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
  };
  for (std::size_t i = 1; i < texts.size(); ++i) {
    if (texts[i] == texts[0]) continue;
    std::string_view own = texts[i], first = texts[0];
    while (!own.empty() || !first.empty())
      if (const std::string_view line = next_line(own), of_first = next_line(first);
          line != of_first)
        return LineDifference{i, line, of_first};
  }
  return std::nullopt;
}

GPUNET_INLINE std::string base64(std::string_view bytes) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      out += k <= n ? digits[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

// Returns whether a pattern with * and ? matches a text.
GPUNET_INLINE bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0;
  // The last *, and the end of its characters.
  std::size_t star = std::string_view::npos, of_star = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      of_star = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++of_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace gpunet::detail

namespace gpunet {

GPUNET_INLINE bool names_parameter(std::string_view pattern, std::string_view name) {
  for (std::size_t end = name.size(); end != std::string_view::npos && end > 0;
       end = name.rfind('.', end - 1))
    if (detail::matches(pattern, name.substr(0, end))) return true;
  return false;
}

}  // namespace gpunet
