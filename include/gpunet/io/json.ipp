// Bodies of json.hpp.
#pragma once

#include <charconv>
#include <system_error>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/io/json.hpp>

namespace gpunet::io::detail {

GPUNET_INLINE std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC0 || first > 0xF4 || text.size() < length) return 0;
  unsigned code = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0u) != 0x80) return 0;
    code = code << 6 | (byte & 0x3Fu);
  }
  constexpr unsigned smallest[] = {0x80, 0x800, 0x10000};  // smaller codes have a shorter form
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code >= smallest[length - 2] && code <= 0x10FFFF && !surrogate ? length : 0;
}

GPUNET_INLINE bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

GPUNET_INLINE void append_utf8(std::string& out, unsigned code) {
  const auto continuation = [&](int shift) {
    out += static_cast<char>(0x80u | ((code >> shift) & 0x3Fu));
  };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0u | code >> 6);
    continuation(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0u | code >> 12);
    continuation(6), continuation(0);
  } else {
    out += static_cast<char>(0xF0u | code >> 18);
    continuation(12), continuation(6), continuation(0);
  }
}

GPUNET_INLINE std::string json_string(std::string_view text) {
  constexpr std::string_view escaped = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt",
                             digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    if (const auto i = escaped.find(c); i != std::string_view::npos) {
      out += '\\';
      out += letters[i];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += concat("\\u00", c < 0x10 ? '0' : '1', digits[static_cast<std::size_t>(c) % 16]);
    } else {
      out += c;
    }
  }
  return out + '"';
}

GPUNET_INLINE std::string printable(std::string_view text) {
  constexpr std::size_t longest = 200;
  const std::string quoted = json_string(text.substr(0, longest));
  return quoted.substr(1, quoted.size() - 2) + (text.size() > longest ? "..." : "");
}

GPUNET_INLINE JsonReader::JsonReader(std::string_view text, std::string place,
                                     std::size_t first_byte)
    : text_(text), place_(std::move(place)), first_byte_(first_byte) {}

GPUNET_INLINE std::string JsonReader::string() {
  expect('"');
  std::string out;
  while (peek() != '"') {
    if (peek() == '\\') {
      ++position_;
      escape(out);
    } else {
      const std::size_t length = utf8_length(text_.substr(position_));
      if (length == 0)
        fail(position_ == text_.size() ? "the text ends inside a string"
                                       : "a character that is not UTF-8");
      if (static_cast<unsigned char>(peek()) < 0x20) fail("a control character in a string");
      out.append(text_, position_, length);
      position_ += length;
    }
  }
  ++position_;
  return out;
}

GPUNET_INLINE index_t JsonReader::integer() {
  skip_space();
  const char* const begin = text_.data() + position_;
  const char* const end = text_.data() + text_.size();
  if (!is_digit(peek())) fail("expected an unsigned integer");
  index_t value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc()) fail("an integer that is too large");
  if (*begin == '0' && stop != begin + 1) fail("an integer that begins with 0");
  position_ += static_cast<std::size_t>(stop - begin);
  if (const char next = peek(); next == '.' || next == 'e' || next == 'E')
    fail("expected an integer instead of a fraction");
  return value;
}

GPUNET_INLINE void JsonReader::finish() {
  skip_space();
  if (position_ != text_.size()) fail("more text than wanted");
}

GPUNET_INLINE void JsonReader::fail(std::string_view what, std::string_view advice) const {
  throw_error(Error(concat(place_, ", byte ", first_byte_ + position_, ": ", what, " ", advice)));
}

GPUNET_INLINE bool JsonReader::is_digit(char c) {
  return c >= '0' && c <= '9';
}

GPUNET_INLINE void JsonReader::skip_space() {
  while (position_ < text_.size() &&
         std::string_view(" \t\n\r").find(text_[position_]) != std::string_view::npos)
    ++position_;
}

GPUNET_INLINE const std::string& JsonReader::next_key(std::set<std::string>& keys) {
  skip_space();
  const auto [key, is_new] = keys.insert(string());
  if (!is_new) fail(concat("the key \"", printable(*key), "\" occurs twice"));
  expect(':');
  return *key;
}

GPUNET_INLINE bool JsonReader::accept(char wanted) {
  skip_space();
  if (peek() != wanted) return false;
  ++position_;
  return true;
}

GPUNET_INLINE void JsonReader::expect(char wanted) {
  if (!accept(wanted)) fail(concat("expected '", wanted, "'"));
}

GPUNET_INLINE void JsonReader::escape(std::string& out) {
  constexpr std::string_view letters = "\"\\/bfnrt", characters = "\"\\/\b\f\n\r\t";
  if (peek() != 'u') {
    const auto i = letters.find(peek());
    if (i == std::string_view::npos) fail("an unknown escape in a string");
    out += characters[i];
    ++position_;
    return;
  }
  unsigned code = utf16_unit();
  if (code >= 0xD800 && code < 0xDC00 && text_.substr(position_, 2) == "\\u") {
    ++position_;
    const unsigned low = utf16_unit();
    code =
        low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : code;
  }
  if (code >= 0xD800 && code < 0xE000) fail("half a surrogate pair in a string");
  append_utf8(out, code);
}

GPUNET_INLINE unsigned JsonReader::utf16_unit() {
  const std::string_view digits = text_.substr(position_ + 1, 4);
  unsigned code = 0;
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (digits.size() < 4 || stop != digits.data() + 4) fail("no four hexadecimal digits after \\u");
  position_ += 5;
  return code;
}

}  // namespace gpunet::io::detail
