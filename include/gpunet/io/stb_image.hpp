// Optional, not part of gpunet.hpp. A program that includes this header in one source, and links
// stb (gpunet::stb_image in CMake, -lstb elsewhere; if the system has only stb's headers, define
// STB_IMAGE_IMPLEMENTATION in that source), reads JPEG and GIF images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#if __has_include(<stb/stb_image.h>)
#include <stb/stb_image.h>
#else
#include <stb_image.h>
#endif

#include <gpunet/core/error.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/image.hpp>
#include <gpunet/io/read_image.hpp>

namespace gpunet::io::detail {

// Returns whether a JPEG file ends before its image does, which stb does not notice. Follows the
// markers (ITU-T T.81, B.1.1): each segment states its length, so a preview inside one is skipped;
// anything may follow the end marker.
inline bool is_cut_jpeg(std::string_view file) {
  if (!file.starts_with("\xFF\xD8")) return false;
  const auto at = [&](std::size_t i) {
    return i < file.size() ? static_cast<unsigned char>(file[i]) : 0u;
  };
  constexpr unsigned restart = 0xD0, start = 0xD8, end = 0xD9;
  for (std::size_t i = 2; i + 1 < file.size();) {
    const unsigned marker = at(i) == 0xFF ? at(i + 1) : 0;
    if (marker == start) return true;  // of another image
    if (marker == end) return false;
    const bool is_data = marker <= 1 || marker == 0xFF || (restart <= marker && marker < start);
    i += is_data ? 1 : 2 + (std::size_t{at(i + 2)} << 8 | at(i + 3));
  }
  return true;
}

inline Image stb_read_image(std::span<const std::byte> file, const std::string& place,
                            const ReadImageOptions& options) {
  const auto* bytes = reinterpret_cast<const stbi_uc*>(file.data());
  require(file.size() <= std::numeric_limits<int>::max(), place,
          " is too large for stb, save it as PNG");
  require(!is_cut_jpeg(as_text(file)), place,
          " ends in the middle of its image (it is cut off), fetch it again");
  const auto size = static_cast<int>(file.size());
  int width = 0, height = 0, channels = 0;
  const auto check = [&](bool is_good) {
    const char* why = is_good ? nullptr : stbi_failure_reason();
    require(
        is_good, place, ": stb says '", why ? why : "unknown",
        "' (it is damaged, or of a kind that stb does not read), fetch it again or save it as PNG");
  };
  check(stbi_info_from_memory(bytes, size, &width, &height, &channels) != 0);
  check_image_sides(place, width, height, options);
  // A bit of a JPEG encodes at most 64 pixels, twelve bits of a GIF at most 4096.
  const std::int64_t most_pixels_a_byte = bytes[0] == 0xFF ? 512 : 4096;
  require(std::int64_t{width} * height <= most_pixels_a_byte * size, place, ": an image of ", width,
          " x ", height, " in ", size, " bytes (it is damaged), fetch it again");
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(bytes, size, &width, &height, &channels, 0), stbi_image_free);
  check(pixels != nullptr);
  Image image{width, height, channels};
  image.pixels.assign(pixels.get(), pixels.get() + image.width * image.height * image.channels);
  return image;
}

[[maybe_unused]] inline const bool stb_is_there = (other_images() = &stb_read_image) != nullptr;

}  // namespace gpunet::io::detail
