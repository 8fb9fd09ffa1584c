// Images, and PNG files of them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/sizes.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/crc32.hpp>
#include <gpunet/io/deflate.hpp>

namespace gpunet::io {

// Pixels row by row from the top left, `channels` bytes each: 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA.
struct Image {
  index_t width = 0, height = 0, channels = 3;
  std::vector<std::uint8_t> pixels = {};
};

// The image of an array [channels, height, width] or [height, width] with numbers from 0 to 1 (what is outside counts
// as the nearer one, NaN as 0), or with bytes.
template <class T>
Image to_image(const std::vector<T>& values, const Sizes& sizes) {
  require(sizes.rank() == 2 || (sizes.rank() == 3 && sizes[0] >= 1 && sizes[0] <= 4),
          "gpunet::io: an array of shape ", to_string(sizes),
          " is no image (want [channels, height, width] with 1 to 4 channels, or [height, width])");
  const bool gray = sizes.rank() == 2;
  Image image{sizes[gray ? 1 : 2], sizes[gray ? 0 : 1], gray ? 1 : sizes[0]};
  require(static_cast<index_t>(values.size()) == sizes.numel(), "gpunet::io: ", values.size(),
          " values for an image of shape ", to_string(sizes));
  const auto pixels = static_cast<std::size_t>(image.width * image.height);
  const auto channels = static_cast<std::size_t>(image.channels);
  image.pixels.resize(values.size());
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t i = 0; i < pixels; ++i) {
      const T value = values[c * pixels + i];
      if constexpr (sizeof(T) == 1)
        image.pixels[i * channels + c] = static_cast<std::uint8_t>(value);
      else  // the order of the operands makes NaN 0; cut off as PyTorch's writer does
        image.pixels[i * channels + c] = static_cast<std::uint8_t>(std::min(T{255}, std::max(T{0}, value * 255)));
    }
  return image;
}

namespace detail {

// Throws Error unless the image has sides that PNG allows, 1 to 4 channels, and as many bytes as it says.
inline void check_image(std::string_view where, const Image& image) {
  constexpr index_t most = (index_t{1} << 31) - 1;
  require(image.width >= 1 && image.height >= 1 && image.width <= most && image.height <= most, where,
          ": an image of ", image.width, " x ", image.height, " (want 1 to ", most, " each way)");
  require(image.channels >= 1 && image.channels <= 4, where, ": an image with ", image.channels,
          " channels (want 1 to 4)");
  // No product of all three, which may be too large for a number.
  const auto bytes = static_cast<index_t>(image.pixels.size()), row = image.width * image.channels;
  require(bytes % row == 0 && bytes / row == image.height, where, ": an image of ", image.width, " x ",
          image.height, " with ", image.channels, " channels has ", bytes,
          " bytes (want one for each channel of each pixel)");
}

// Big-endian, as PNG has its numbers.
inline std::string png_number(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

inline std::string png_chunk(std::string_view type, std::string_view data) {
  std::string chunk(type);
  chunk += data;
  return png_number(static_cast<std::uint32_t>(data.size())) + chunk +
         png_number(crc32(std::as_bytes(std::span(chunk))));
}

// Deflate's blocks of bytes as they are, which need no library; at most 65535 bytes each.
inline std::string deflate_stored(std::string_view bytes) {
  constexpr std::size_t most = 0xFFFF;
  std::string out;
  do {
    const std::size_t n = std::min(bytes.size(), most);
    out += static_cast<char>(n == bytes.size());  // the last one
    for (std::size_t length : {n, ~n})
      out += {static_cast<char>(length), static_cast<char>(length >> 8)};
    out += bytes.substr(0, n);
    bytes.remove_prefix(n);
  } while (!bytes.empty());
  return out;
}

// A zlib stream (RFC 1950), packed where the program has a codec.
inline std::string zlib_stream(std::string_view bytes) {
  std::uint32_t a = 1, b = 0;  // Adler's sums
  for (char byte : bytes) {
    a = (a + static_cast<unsigned char>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  std::string stream = "\x78\x01";
  if (const DeflateCodec* codec = deflate_codec()) {
    const std::vector<std::byte> packed = codec->deflate(std::as_bytes(std::span(bytes)));
    stream.append(reinterpret_cast<const char*>(packed.data()), packed.size());
  } else {
    stream += deflate_stored(bytes);
  }
  return stream + png_number(b << 16 | a);
}

}  // namespace detail

// The bytes of a PNG file (W3C's specification, third edition) with 8 bits a channel. Packed where the program has zlib
// (io/zlib.hpp), else about as large as its pixels. Throws Error where pixels and sizes do not fit.
inline std::string encode_png(const Image& image) {
  detail::check_image("gpunet::io", image);
  const index_t row = image.width * image.channels;
  constexpr index_t most = (index_t{1} << 30) - 1;
  require(row * image.height <= most, "gpunet::io: an image of ", row * image.height,
          " bytes is too large for one PNG chunk, cut it");

  std::string lines;
  lines.reserve(image.pixels.size() + static_cast<std::size_t>(image.height));
  for (index_t y = 0; y < image.height; ++y) {
    lines += '\0';  // no filter
    lines.append(reinterpret_cast<const char*>(image.pixels.data()) + y * row, static_cast<std::size_t>(row));
  }
  constexpr std::array<char, 5> color_types{0, 0, 4, 2, 6};  // by channels
  std::string header = detail::png_number(static_cast<std::uint32_t>(image.width)) +
                       detail::png_number(static_cast<std::uint32_t>(image.height));
  header += {8, color_types.at(static_cast<std::size_t>(image.channels)), 0, 0, 0};
  return "\x89PNG\r\n\x1A\n" + detail::png_chunk("IHDR", header) +
         detail::png_chunk("IDAT", detail::zlib_stream(lines)) + detail::png_chunk("IEND", "");
}

// Writes a PNG file. Throws Error naming the file.
inline void save_png(const std::string& path, const Image& image) {
  write_file_atomically(path, encode_png(image));
}

}  // namespace gpunet::io
