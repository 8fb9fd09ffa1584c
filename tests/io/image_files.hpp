// The small image files of tests/reference/pillow_images.hpp.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "reference/pillow_images.hpp"
#include "test_config.hpp"

// The bytes that hexadecimal numbers stand for.
inline std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return bytes;
}

inline std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// The bytes of the file of that name.
inline std::string image_file(std::string_view name) {
  for (const auto& file : reference::image_files)
    if (file.name == name) return from_hex(file.bytes);
  throw std::runtime_error("no image " + std::string(name));
}

// Whether the program of the tests reads it.
inline bool is_readable(const reference::ImageFile& file) {
#if GPUNET_TEST_ZLIB
  constexpr bool has_zlib = true;
#else
  constexpr bool has_zlib = false;
#endif
  return has_zlib || !file.name.starts_with("PNG");
}
