// Reads and writes binary fields of files.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <gpunet/core/error.hpp>

namespace gpunet::io::detail {

// Thrown for an object in a valid file that no TensorEntry can represent. The rest of the file may
// still be read.
class Unreadable : public Error {
 public:
  using Error::Error;
};

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads little-endian numbers and pieces of bytes, front to back. Reading beyond the end throws an
// Error that names the file and the byte. Allocates nothing; texts and pieces are borrowed.
class ByteReader {
 public:
  static constexpr std::string_view default_advice =
      "(it is damaged, or no file of this kind), fetch or save it again";

  // `place` begins the messages; the bytes start at the byte `first_byte` of their file.
  ByteReader(std::span<const std::byte> bytes, std::string place, std::size_t first_byte = 0)
      : bytes_(bytes), place_(std::move(place)), first_byte_(first_byte) {}

  std::size_t position() const { return position_; }
  std::size_t file_position() const { return first_byte_ + position_; }
  std::size_t left() const { return bytes_.size() - position_; }
  std::span<const std::byte> rest() const { return bytes_.subspan(position_); }
  const std::string& place() const { return place_; }

  // Returns the next n bytes. `what` describes them in messages.
  std::span<const std::byte> take(std::size_t n, std::string_view what) {
    if (n > left()) fail(concat(what, " of ", n, " bytes where ", left(), " are left"));
    position_ += n;
    return bytes_.subspan(position_ - n, n);
  }

  std::string_view text(std::size_t n, std::string_view what) { return as_text(take(n, what)); }

  template <class T>
  T number(std::string_view what) {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }

  // Returns the text before the next line feed, and skips that.
  std::string_view line(std::string_view what) {
    const std::string_view rest = as_text(this->rest());
    const std::size_t length = rest.find('\n');
    if (length == std::string_view::npos) fail(concat(what, " without an end"));
    position_ += length + 1;
    return rest.substr(0, length);
  }

  // Moves back by n bytes, so that a message names the byte where the last field starts.
  void back(std::size_t n) { position_ -= n; }

  template <class Exception = Error>
  [[noreturn]] void fail(std::string_view what, std::string_view advice = default_advice) const {
    throw_error(Exception(concat(place_, ", byte ", file_position(), ": ", what, " ", advice)));
  }

 private:
  std::span<const std::byte> bytes_;
  std::string place_;
  std::size_t first_byte_ = 0;
  std::size_t position_ = 0;
};

// Appends the number, little-endian.
template <class T>
void append_number(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i)
    out += static_cast<char>(value >> 8 * i & 0xFF);
}

}  // namespace gpunet::io::detail
