// The small image files of tests/reference/pillow_images.safetensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/reference_file.hpp"
#include "test_config.hpp"

inline const ReferenceFile& pillow_images() {
  static const ReferenceFile file("pillow_images");
  return file;
}

// Returns the bytes of the file of that name.
inline std::string image_file(std::string_view name) {
  const std::vector<std::uint8_t> bytes = pillow_images().values<std::uint8_t>(name);
  return {bytes.begin(), bytes.end()};
}
inline std::string jpeg_file() {
  return image_file("JPEG");
}

// A file, and hashes of what Pillow reads: red, green and blue of each pixel, and its alpha; 0 for
// images without.
struct ImageFile {
  std::string name, bytes;
  std::uint64_t colors, alpha;
};

// Returns all files but that of JPEG.
inline const std::vector<ImageFile>& image_files() {
  static const std::vector<ImageFile> all = [] {
    constexpr std::string_view prefix = "hashes of ";
    std::vector<ImageFile> files;
    for (const std::string& array : pillow_images().names(prefix)) {
      const std::string name = array.substr(prefix.size());
      const auto hashes = pillow_images().values<std::int64_t>(array);
      files.push_back({name, image_file(name), static_cast<std::uint64_t>(hashes[0]),
                       static_cast<std::uint64_t>(hashes[1])});
    }
    return files;
  }();
  return all;
}

inline std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Whether the program of the tests reads it.
inline bool is_readable(const ImageFile& file) {
#if GPUNET_TEST_ZLIB
  constexpr bool has_zlib = true;
#else
  constexpr bool has_zlib = false;
#endif
  return has_zlib || !file.name.starts_with("PNG");
}
