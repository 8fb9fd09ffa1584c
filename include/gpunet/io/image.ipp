// Bodies of image.hpp.
#pragma once

#include <array>
#include <span>

#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/crc32.hpp>
#include <gpunet/io/deflate.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::io {

namespace detail {

GPUNET_INLINE void check_image(std::string_view where, const Image& image) {
  constexpr index_t most = (index_t{1} << 31) - 1;
  require(image.width >= 1 && image.height >= 1 && image.width <= most && image.height <= most, where,
          ": an image of ", image.width, " x ", image.height, " (want 1 to ", most, " each way)");
  require(image.channels >= 1 && image.channels <= 4, where, ": an image with ", image.channels,
          " channels (want 1 to 4)");
  // Not the product of all three, which could overflow.
  const auto bytes = static_cast<index_t>(image.pixels.size()), row = image.width * image.channels;
  require(bytes % row == 0 && bytes / row == image.height, where, ": an image of ", image.width, " x ",
          image.height, " with ", image.channels, " channels has ", bytes,
          " bytes (want one for each channel of each pixel)");
}

GPUNET_INLINE void check_image_sides(std::string_view place, std::int64_t width, std::int64_t height,
                                     const ReadImageOptions& options) {
  require(width >= 1 && height >= 1, place, ": an image of ", width, " x ", height,
          " (want sides of 1 or more), fetch the file again");
  constexpr std::int64_t most = std::int64_t{1} << 50;  // sizes in bits do not overflow
  require(width <= std::clamp(options.max_pixels, std::int64_t{0}, most) / height, place, ": an image of ", width,
          " x ", height, " pixels (want at most ", options.max_pixels,
          "), fetch the file again if that is not its size, else raise the limit, {.max_pixels = ...}, or make it "
          "smaller");
}

GPUNET_INLINE std::string png_number(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

GPUNET_INLINE std::string png_chunk(std::string_view type, std::string_view data) {
  std::string chunk(type);
  chunk += data;
  return png_number(static_cast<std::uint32_t>(data.size())) + chunk +
         png_number(crc32(std::as_bytes(std::span(chunk))));
}

GPUNET_INLINE std::string deflate_stored(std::string_view bytes) {
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

GPUNET_INLINE std::string zlib_stream(std::string_view bytes) {
  std::uint32_t a = 1, b = 0;  // Adler-32
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

GPUNET_INLINE std::string encode_png(const Image& image) {
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

GPUNET_INLINE void save_png(const std::string& path, const Image& image) {
  write_file_atomically(path, encode_png(image));
}

}  // namespace gpunet::io
