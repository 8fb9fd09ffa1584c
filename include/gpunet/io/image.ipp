// Bodies of image.hpp.
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/crc32.hpp>
#include <gpunet/io/deflate.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::io {

namespace detail {

GPUNET_INLINE void check_image(std::string_view where, const Image& image) {
  constexpr index_t most = (index_t{1} << 31) - 1;
  require(image.width >= 1 && image.height >= 1 && image.width <= most && image.height <= most,
          where, ": an image of ", image.width, " x ", image.height, " (want 1 to ", most,
          " each way)");
  require(image.channels >= 1 && image.channels <= 4, where, ": an image with ", image.channels,
          " channels (want 1 to 4)");
  // Not the product of all three, which could overflow.
  const auto bytes = static_cast<index_t>(image.pixels.size()), row = image.width * image.channels;
  require(bytes % row == 0 && bytes / row == image.height, where, ": an image of ", image.width,
          " x ", image.height, " with ", image.channels, " channels has ", bytes,
          " bytes (want one for each channel of each pixel)");
}

GPUNET_INLINE void check_image_sides(std::string_view place, std::int64_t width,
                                     std::int64_t height, const ReadImageOptions& options) {
  require(width >= 1 && height >= 1, place, ": an image of ", width, " x ", height,
          " (want sides of 1 or more), fetch the file again");
  constexpr std::int64_t most = std::int64_t{1} << 50;  // sizes in bits do not overflow
  require(width <= std::clamp(options.max_pixels, std::int64_t{0}, most) / height, place,
          ": an image of ", width, " x ", height, " pixels (want at most ", options.max_pixels,
          "), fetch the file again if that is not its size, else raise the limit, {.max_pixels = "
          "...}, or make it smaller");
}

GPUNET_INLINE std::string png_number(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

GPUNET_INLINE std::string png_chunk(std::string_view type, std::string_view data) {
  std::string chunk(type);
  chunk += data;
  return png_number(static_cast<std::uint32_t>(data.size())) + chunk +
         png_number(crc32(std::as_bytes(std::span(chunk))));
}

// Writes the bits of a deflate stream.
class DeflateBits {
 public:
  // Appends `count` bits of a number, the lowest first.
  void number(unsigned value, int count) {
    bits_ |= std::uint64_t{value} << size_;
    for (size_ += count; size_ >= 8; size_ -= 8, bits_ >>= 8)
      out_ += static_cast<char>(bits_);
  }
  // Appends `count` bits of a Huffman code, the highest first.
  void code(unsigned value, int count) {
    while (count-- > 0)
      number(value >> count & 1u, 1);
  }
  // Appends a byte, the end of the block (256) or the code of a length: section 3.2.6.
  void symbol(unsigned value) {
    if (value < 144) return code(0x30 + value, 8);
    if (value < 256) return code(0x190 + value - 144, 9);
    if (value < 280) return code(value - 256, 7);
    code(0xC0 + value - 280, 8);
  }
  // Appends a copy of 3 to 258 bytes from 1 to 32768 bytes before: section 3.2.5.
  void copy(unsigned length, unsigned distance) {
    // Both come in groups of 2^bits numbers: four groups (two for distances) of each size.
    constexpr unsigned longest = 258;
    unsigned rest = length - 3, bits = static_cast<unsigned>(std::bit_width(rest | 7u)) - 3;
    symbol(length == longest ? 285 : 257 + 4 * bits + (rest >> bits));
    if (length != longest) number(rest & ((1u << bits) - 1), static_cast<int>(bits));
    rest = distance - 1, bits = static_cast<unsigned>(std::bit_width(rest | 3u)) - 2;
    code(2 * bits + (rest >> bits), 5);
    number(rest & ((1u << bits) - 1), static_cast<int>(bits));
  }
  std::string finish() {
    number(0, 7);  // completes the last byte
    return std::move(out_);
  }

 private:
  std::string out_;
  std::uint64_t bits_ = 0;
  int size_ = 0;
};

GPUNET_INLINE std::string deflate_fixed(std::string_view bytes) {
  constexpr std::size_t shortest = 4, longest = 258, farthest = 32768;
  std::vector<std::size_t> last(1 << 15, bytes.size());  // the last position with each hash
  // Returns the last position with the hash of the four bytes here, and stores this one. Without
  // one, or with fewer bytes left, the end.
  const auto seen_before = [&](std::size_t at) {
    std::uint32_t four = 0;
    if (bytes.size() - at < sizeof four) return bytes.size();
    std::memcpy(&four, bytes.data() + at, sizeof four);
    return std::exchange(last[four * 2654435761u >> 17], at);
  };
  DeflateBits out;
  out.number(1, 1), out.number(1, 2);  // the last block; fixed codes
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t most = std::min(longest, bytes.size() - at);
    const std::size_t before = seen_before(at);
    std::size_t length = 0;
    if (before < at && at - before <= farthest)
      while (length < most && bytes[before + length] == bytes[at + length])
        ++length;
    if (length < shortest) {
      out.symbol(static_cast<unsigned char>(bytes[at++]));
      continue;
    }
    out.copy(static_cast<unsigned>(length), static_cast<unsigned>(at - before));
    const std::size_t end = at + length;
    while (++at < end)
      seen_before(at);
  }
  out.symbol(256);
  return out.finish();
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
    stream += deflate_fixed(bytes);
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
    lines.append(reinterpret_cast<const char*>(image.pixels.data()) + y * row,
                 static_cast<std::size_t>(row));
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
