// Binary fields that are written.
#pragma once

#include <cstddef>
#include <string>

namespace gpunet::io::detail {

// Appends the number, little-endian.
template <class T>
void append_number(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i)
    out += static_cast<char>(value >> 8 * i & 0xFF);
}

}  // namespace gpunet::io::detail
