// Numbers and strings that pickles hold as lines of text.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <gpunet/io/json.hpp>
#include <gpunet/io/pickle_value.hpp>

namespace gpunet::io::detail {

// The whole text as a number; nothing where it is none, or one that T cannot hold.
template <class T, class... Base>
std::optional<T> number_in(std::string_view text, Base... base) {
  T out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base...);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// An integer, of Python 2 with an L behind it; where only `booleans_too`, "00" and "01" are False and True. Nothing where it
// is none.
inline std::optional<PickleValue> integer_in(std::string_view text, bool booleans_too) {
  using Kind = PickleValue::Kind;
  if (booleans_too && (text == "00" || text == "01"))
    return PickleValue{.kind = Kind::boolean, .integer = text == "01"};
  if (!booleans_too && text.ends_with('L')) text.remove_suffix(1);
  if (const auto n = number_in<std::int64_t>(text)) return PickleValue{.kind = Kind::integer, .integer = *n};
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return PickleValue{.kind = Kind::large};
}

// The text behind the escapes of repr() in Python 2, without its quotation marks. Nothing where it is none.
inline std::optional<std::string> string_in_quotes(std::string_view text) {
  if (text.size() < 2 || (text[0] != '\'' && text[0] != '"') || text.back() != text[0]) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  constexpr std::string_view letters = "ntrabfv\\'\"", meant = "\n\t\r\a\b\f\v\\'\"";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    if (text[i] == 'x') {
      const auto code = number_in<unsigned char>(text.substr(i + 1, 2), 16);
      if (!code || text.size() - i < 3) return std::nullopt;
      out += static_cast<char>(*code);
      i += 2;
    } else if (const auto letter = letters.find(text[i]); letter != std::string_view::npos) {
      out += meant[letter];
    } else {
      return std::nullopt;
    }
  }
  return out;
}

// The text in UTF-8 behind Python's raw-unicode-escape: \uXXXX, \UXXXXXXXX, and bytes of Latin-1. Nothing where it is none.
inline std::optional<std::string> unicode_in(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digits = !text.substr(i).starts_with("\\u") ? text.substr(i).starts_with("\\U") ? 8 : 0 : 4;
    if (digits == 0) {
      append_utf8(out, static_cast<unsigned char>(text[i]));
      continue;
    }
    const auto code = number_in<std::uint32_t>(text.substr(i + 2, digits), 16);
    if (!code || text.size() - i - 2 < digits || *code > 0x10FFFF) return std::nullopt;
    append_utf8(out, *code);
    i += 1 + digits;
  }
  return out;
}

}  // namespace gpunet::io::detail
