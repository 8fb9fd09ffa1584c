// Protocol buffers (protobuf.dev/programming-guides/encoding): messages that are written and read
// field by field.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/binary.hpp>

namespace gpunet::io::detail {

// A message, built field by field. Fields with the same number form a list.
class ProtoMessage {
 public:
  ProtoMessage& integer(int field, std::uint64_t value) {
    begin(field, 0);
    append_varint(value);
    return *this;
  }
  ProtoMessage& number(int field, double value) {
    begin(field, 1);
    append_number(bytes_, std::bit_cast<std::uint64_t>(value));
    return *this;
  }
  ProtoMessage& number(int field, float value) {
    begin(field, 5);
    append_number(bytes_, std::bit_cast<std::uint32_t>(value));
    return *this;
  }
  ProtoMessage& bytes(int field, std::string_view value) {
    begin(field, 2);
    append_varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtoMessage& message(int field, const ProtoMessage& value) { return bytes(field, value.bytes_); }
  // Append a packed list.
  ProtoMessage& numbers(int field, const std::vector<double>& values) {
    begin(field, 2);
    append_varint(8 * values.size());
    for (double value : values)
      append_number(bytes_, std::bit_cast<std::uint64_t>(value));
    return *this;
  }
  ProtoMessage& integers(int field, std::span<const index_t> values) {
    ProtoMessage list;
    for (const index_t value : values)
      list.append_varint(static_cast<std::uint64_t>(value));
    return message(field, list);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void begin(int field, int wire_type) {
    append_varint(static_cast<std::uint64_t>(field << 3 | wire_type));
  }
  // Seven bits per byte, lowest first; the highest bit of a byte means that more follow.
  void append_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes_ += static_cast<char>((value & 0x7F) | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

// Reads the fields of a message, front to back:
//   while (reader.next()) switch (reader.field()) { case 1: name = reader.text(); ... }
// The caller reads each field once, or skips it. Texts and messages are borrowed; every length is
// compared with the bytes that are left. Errors name the file, the message, the field, the byte.
class ProtoReader {
 public:
  // `place` begins the messages of errors; `message` is the type of the message, "GraphProto". The
  // bytes start at the byte `first_byte` of their file.
  ProtoReader(std::span<const std::byte> bytes, const std::string& place, const char* message,
              std::size_t first_byte = 0)
      : bytes_(bytes, place, first_byte), message_(message) {}

  // Goes to the next field. Returns false at the end of the message.
  bool next() {
    if (bytes_.left() == 0) return false;
    field_ = 0;
    const std::uint64_t key = varint();
    wire_type_ = static_cast<int>(key & 7);
    field_ = static_cast<int>(key >> 3 & 0x1FFFFFFF);
    if (field_ == 0 || key >> 32 != 0) fail(concat("the key ", key, " of a field"));
    return true;
  }
  int field() const { return field_; }
  std::size_t file_position() const { return bytes_.file_position(); }

  std::uint64_t integer() {
    want(0, "an integer");
    return varint();
  }
  float number() {
    want(5, "a float");
    return fixed<float>();
  }
  std::span<const std::byte> bytes() {
    want(2, "a text or message");
    const std::uint64_t length = varint();
    if (length > bytes_.left())
      fail(concat("a length of ", length, " bytes where ", bytes_.left(), " are left"));
    return bytes_.take(static_cast<std::size_t>(length), "");
  }
  std::string_view text() { return as_text(bytes()); }
  ProtoReader message(const char* name) {
    const std::span<const std::byte> inner = bytes();
    return {inner, bytes_.place(), name, bytes_.file_position() - inner.size()};
  }

  // Call f(value) for each value of a list, packed or not: integers; floats or doubles.
  template <class F>
  void integers(F f) {
    if (wire_type_ != 2) return f(integer());
    for (ProtoReader list = packed(); list.bytes_.left() > 0;)
      f(list.varint());
  }
  template <class T, class F>
  void numbers(F f) {
    if (wire_type_ != 2) {
      want(sizeof(T) == 4 ? 5 : 1, "a number");
      return f(fixed<T>());
    }
    for (ProtoReader list = packed(); list.bytes_.left() > 0;)
      f(list.fixed<T>());
  }

  void skip() {
    switch (wire_type_) {
      case 0:
        varint();
        break;
      case 1:
        fixed<double>();
        break;
      case 2:
        bytes();
        break;
      case 5:
        fixed<float>();
        break;
      default:
        fail(concat("wire type ", wire_type_, " (want 0, 1, 2 or 5)"));
    }
  }

  [[noreturn]] void fail(std::string_view what,
                         std::string_view advice = ByteReader::default_advice) const {
    bytes_.fail(concat(message_, field_ == 0 ? "" : concat(", field ", field_), ": ", what),
                advice);
  }

 private:
  void want(int wire_type, std::string_view what) const {
    if (wire_type_ != wire_type)
      fail(concat("wire type ", wire_type_, " (want ", wire_type, ", ", what, ")"));
  }
  ProtoReader packed() {
    ProtoReader list = message(message_);
    list.field_ = field_;
    return list;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (bytes_.left() == 0) fail("an integer without an end");
      const auto byte = static_cast<std::uint64_t>(bytes_.take(1, "")[0]);
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    fail("an integer of more than 64 bits");
  }
  template <class T>
  T fixed() {
    if (bytes_.left() < sizeof(T))
      fail(concat("a number of ", sizeof(T), " bytes where ", bytes_.left(), " are left"));
    return bytes_.number<T>("");
  }

  ByteReader bytes_;
  const char* message_;
  int field_ = 0, wire_type_ = 0;
};

}  // namespace gpunet::io::detail
