// Messages of protocol buffers (protobuf.dev/programming-guides/encoding), written.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/io/append_number.hpp>

namespace gpunet::io::detail {

// A message that grows by a field at a time. Fields with the same number make a list.
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
  // A packed list.
  ProtoMessage& numbers(int field, const std::vector<double>& values) {
    begin(field, 2);
    append_varint(8 * values.size());
    for (double value : values)
      append_number(bytes_, std::bit_cast<std::uint64_t>(value));
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void begin(int field, int wire_type) { append_varint(static_cast<std::uint64_t>(field << 3 | wire_type)); }
  // Seven bits a byte, lowest first; the highest bit says that more follow.
  void append_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes_ += static_cast<char>((value & 0x7F) | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace gpunet::io::detail
