// A reader and helpers for the subset of JSON that file headers use: objects, arrays, strings and
// unsigned integers.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include <gpunet/core/config.hpp>

namespace gpunet::io::detail {

// Returns the number of bytes of the UTF-8 character at the start of `text`, 0 if there is none.
std::size_t utf8_length(std::string_view text);

bool is_utf8(std::string_view text);

void append_utf8(std::string& out, unsigned code);

// Returns `text` as a JSON string, in quotation marks.
std::string json_string(std::string_view text);

// Returns a text from a file for messages: control characters escaped, long texts cut.
std::string printable(std::string_view text);

// Reads a JSON text, front to back. The caller asks for the token that must come next; anything
// else throws an Error that names the file and the byte. Refuses text that is not strictly JSON,
// repeated keys, and text that is not UTF-8.
class JsonReader {
 public:
  static constexpr std::string_view default_advice =
      "(it is damaged, or no file of this kind), fetch or save it again";

  // `place` begins the messages; the text starts at the byte `first_byte` of its file.
  JsonReader(std::string_view text, std::string place, std::size_t first_byte);

  // Calls member(key) for each key; it must read the value.
  template <class Member>
  void object(Member member) {
    expect('{');
    if (accept('}')) return;
    std::set<std::string> keys;
    do
      member(next_key(keys));
    while (accept(','));
    expect('}');
  }

  // Calls element() for each element; it must read it.
  template <class Element>
  void array(Element element) {
    expect('[');
    if (accept(']')) return;
    do
      element();
    while (accept(','));
    expect(']');
  }

  std::string string();

  // Reads an integer from 0 to the largest index_t.
  index_t integer();

  // Checks that only spaces are left.
  void finish();

  [[noreturn]] void fail(std::string_view what, std::string_view advice = default_advice) const;

 private:
  static bool is_digit(char c);

  // Returns the next character; 0 at the end.
  char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  void skip_space();

  // Reads a key and the colon after it. `keys` are the earlier keys of the object.
  const std::string& next_key(std::set<std::string>& keys);

  bool accept(char wanted);

  void expect(char wanted);

  // Reads an escape sequence after its backslash.
  void escape(std::string& out);

  // Reads u and four hexadecimal digits.
  unsigned utf16_unit();

  std::string_view text_;
  std::string place_;
  std::size_t first_byte_ = 0;
  std::size_t position_ = 0;
};

}  // namespace gpunet::io::detail

#if !GPUNET_COMPILED
#include <gpunet/io/json.ipp>
#endif
