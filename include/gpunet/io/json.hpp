// The part of JSON that file headers need: objects, arrays, strings and unsigned integers.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include <gpunet/core/config.hpp>

namespace gpunet::io::detail {

// Number of bytes of the UTF-8 character at the beginning of `text`, 0 if there is none.
std::size_t utf8_length(std::string_view text);

bool is_utf8(std::string_view text);

void append_utf8(std::string& out, unsigned code);

// `text` as a JSON string, with its quotation marks.
std::string json_string(std::string_view text);

// A text from a file as messages show it: no control characters, not endless.
std::string printable(std::string_view text);

// Reads a JSON text from front to back. The caller says what has to come next; anything else is an Error that names
// the file and the byte. Refuses what is not strictly JSON, keys given twice, and texts that are not UTF-8.
class JsonReader {
 public:
  static constexpr std::string_view default_advice =
      "(it is damaged, or no file of this kind), fetch or save it again";

  // `place` begins the messages; the text begins at the byte `first_byte` of its file.
  JsonReader(std::string_view text, std::string place, std::size_t first_byte);

  // Calls member(key) for each key; it has to read the value.
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

  // Calls element() for each element; it has to read it.
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

  // 0 to the largest index_t.
  index_t integer();

  // Checks that nothing but space is left.
  void finish();

  [[noreturn]] void fail(std::string_view what, std::string_view advice = default_advice) const;

 private:
  static bool is_digit(char c);

  // The next character; 0 at the end.
  char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  void skip_space();

  // A key and the colon behind it. `keys` are those before it in the object.
  const std::string& next_key(std::set<std::string>& keys);

  bool accept(char wanted);

  void expect(char wanted);

  // What follows a backslash.
  void escape(std::string& out);

  // u and four hexadecimal digits.
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
