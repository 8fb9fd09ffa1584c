// Reads PNG files.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/crc32.hpp>
#include <gpunet/io/deflate.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::io {

namespace detail {

inline std::uint32_t png_number(std::span<const std::byte, 4> bytes) {
  std::uint32_t value = 0;
  for (const std::byte byte : bytes)
    value = value << 8 | std::to_integer<std::uint32_t>(byte);
  return value;
}

// Section numbers refer to W3C's specification, third edition.
class PngReader {
 public:
  PngReader(std::span<const std::byte> file, const std::string& place,
            const ReadImageOptions& options)
      : options_(options), reader_(file, place) {}

  // Decodes some rows at a time into the image. Beside it, memory holds block_bytes or two rows,
  // the state of the codec, and 16 bytes per IDAT chunk.
  Image read() {
    reader_.take(8, "a signature");
    read_chunks();
    const std::unique_ptr<Inflater> lines = unpack();
    Image image{width_, height_, channels() + (transparent_.empty() ? 0 : 1)};
    image.pixels.resize(static_cast<std::size_t>(width_ * height_ * image.channels));
    std::vector<std::byte> block;  // some rows, and the one above them
    for (const Pass& pass : passes()) {
      const std::size_t line = 1 + row_bytes(pass);
      const auto at_once = static_cast<index_t>(std::max<std::size_t>(1, block_bytes / line));
      block.assign(line, std::byte{});
      for (index_t y = 0, rows = line > 1 ? pass.rows(height_) : 0; y < rows; y += at_once) {
        const auto count = static_cast<std::size_t>(std::min(at_once, rows - y));
        block.resize(line * (1 + count));
        const auto fresh = std::span(block).subspan(line);
        if (lines->read(fresh) != std::ssize(fresh))
          reader_.fail("pixels that cannot be decompressed, or too few");
        for (std::size_t i = 0; i < count; ++i) {
          const auto bytes = fresh.subspan(i * line + 1, line - 1);
          undo_filter(std::to_integer<int>(fresh[i * line]), bytes,
                      std::span(block).subspan(i * line + 1, line - 1));
          read_line(bytes, pass, y + static_cast<index_t>(i), image);
        }
        std::copy_n(block.end() - static_cast<std::ptrdiff_t>(line), line, block.begin());
      }
    }
    return image;
  }

 private:
  static constexpr std::size_t block_bytes = 1 << 15;  // codecs are slow at the end of a buffer
  enum Color : std::uint8_t { gray = 0, rgb = 2, indexed = 3, gray_alpha = 4, rgb_alpha = 6 };

  // One of the seven images that an interlaced image is stored as (8.1): every dx-th column from x0
  // on, every dy-th row from y0 on.
  struct Pass {
    index_t x0, y0, dx, dy;
    index_t columns(index_t width) const {
      return std::max(index_t{0}, (width - x0 + dx - 1) / dx);
    }
    index_t rows(index_t height) const { return std::max(index_t{0}, (height - y0 + dy - 1) / dy); }
  };
  std::span<const Pass> passes() const {
    static constexpr std::array<Pass, 7> interlaced{{{0, 0, 8, 8},
                                                     {4, 0, 8, 8},
                                                     {0, 4, 4, 8},
                                                     {2, 0, 4, 4},
                                                     {0, 2, 2, 4},
                                                     {1, 0, 2, 2},
                                                     {0, 1, 1, 2}}};
    static constexpr std::array<Pass, 1> whole{{{0, 0, 1, 1}}};
    return is_interlaced_ ? std::span<const Pass>(interlaced) : whole;
  }

  // Channels of the image, without the one for transparent_.
  index_t channels() const {
    return color_ == gray ? 1 : color_ == gray_alpha ? 2 : color_ == rgb_alpha ? 4 : 3;
  }
  index_t samples() const { return color_ == indexed ? 1 : channels(); }  // stored per pixel
  std::size_t row_bytes(const Pass& pass) const {
    return static_cast<std::size_t>((pass.columns(width_) * samples() * depth_ + 7) / 8);
  }

  void read_chunks() {
    for (bool first = true;; first = false) {
      const std::size_t length = number("the length of a chunk");
      const auto chunk = reader_.take(4 + length, "a chunk");
      const std::string_view type = as_text(chunk.first(4));
      if (number("a checksum") != crc32(chunk))
        reader_.fail(concat("the checksum of chunk ", type, " is wrong"));
      if (first != (type == "IHDR"))
        reader_.fail(concat("the chunk ", type, ", where IHDR comes first and once"));
      const auto data = chunk.subspan(4);
      if (type == "IHDR") read_header(data);
      if (type == "PLTE") palette_ = data;
      if (type == "tRNS") transparent_ = data;
      if (type == "IDAT" && !data.empty()) packed_.push_back(data);
      if (type == "IEND") break;
      // Set in lower-case letters: a chunk that may be ignored (5.4).
      constexpr unsigned ancillary = 32;
      if (!(static_cast<unsigned char>(type[0]) & ancillary) && type != "IHDR" && type != "PLTE" &&
          type != "IDAT")
        reader_.fail(concat("the chunk ", type,
                            ", which an image cannot do without and gpunet does not know"));
    }
    if (color_ == indexed &&
        (palette_.empty() || palette_.size() % 3 != 0 || palette_.size() > 3 * 256))
      reader_.fail(
          concat("a palette of ", palette_.size(), " bytes (want 3 for each of 1 to 256 colors)"));
    if (color_ >= gray_alpha) transparent_ = {};  // meaningless for these types (11.3.2.1)
    if (!transparent_.empty() && color_ != indexed &&
        transparent_.size() != 2 * static_cast<std::size_t>(channels()))
      reader_.fail(
          concat("a tRNS chunk of ", transparent_.size(), " bytes (want ", 2 * channels(), ")"));
  }
  std::uint32_t number(std::string_view what) {
    return png_number(reader_.take(4, what).first<4>());
  }

  void read_header(std::span<const std::byte> data) {
    if (data.size() != 13)
      reader_.fail(concat("an IHDR chunk of ", data.size(), " bytes (want 13)"));
    const auto at = [&](std::size_t i) {
      return std::to_integer<std::uint8_t>(data[i]);
    };
    width_ = png_number(data.first<4>());
    height_ = png_number(data.subspan<4, 4>());
    check_image_sides(reader_.place(), width_, height_, options_);
    depth_ = at(8);
    color_ = at(9);
    is_interlaced_ = at(12) == 1;
    const bool is_small = depth_ == 1 || depth_ == 2 || depth_ == 4;  // table 12
    const bool is_known = color_ == gray      ? is_small || depth_ == 8 || depth_ == 16
                          : color_ == indexed ? is_small || depth_ == 8
                          : color_ == rgb || color_ == gray_alpha || color_ == rgb_alpha
                              ? depth_ == 8 || depth_ == 16
                              : false;
    if (!is_known || at(10) != 0 || at(11) != 0 || at(12) > 1)
      reader_.fail(concat("color type ", int{color_}, " with ", depth_, " bits, compression ",
                          int{at(10)}, ", filter ", int{at(11)}, ", interlace ", int{at(12)},
                          ", which PNG does not have"));
  }

  // Returns the rows of all passes, each after a byte with its filter. The Adler-32 after them is
  // ignored: chunks have checksums of their own.
  std::unique_ptr<Inflater> unpack() {
    std::size_t size = 0, packed_size = 0;
    for (const Pass& pass : passes())
      if (const std::size_t row = row_bytes(pass); row > 0)
        size += static_cast<std::size_t>(pass.rows(height_)) * (1 + row);
    for (const std::span<const std::byte> piece : packed_)
      packed_size += piece.size();
    unsigned header = 0;  // two bytes, which may be in two chunks
    for (std::size_t i = 0, left = 2; i < packed_.size() && left > 0; ++i)
      for (; left > 0 && !packed_[i].empty(); --left, packed_[i] = packed_[i].subspan(1))
        header = 256 * header + std::to_integer<unsigned>(packed_[i][0]);
    constexpr unsigned deflated = 8, has_dictionary = 32;
    if (packed_size < 2 || header / 256 % 16 != deflated || header % 31 != 0 ||
        header & has_dictionary)
      reader_.fail("no zlib stream in the IDAT chunks");
    if (size / most_expansion > packed_size)
      reader_.fail(concat(size, " bytes of pixels in ", packed_size,
                          " packed ones (more than deflate can)"));
    return deflate_codec()->inflater(std::move(packed_));
  }

  // Reverses the filter of a row (section 9.2). `above` is the row before, zeros for the first.
  void undo_filter(int filter, std::span<std::byte> line, std::span<const std::byte> above) const {
    const std::size_t step =
        std::max<std::size_t>(1, static_cast<std::size_t>(samples() * depth_ / 8));
    if (filter > 4) reader_.fail(concat("filter ", filter, " (want 0 to 4)"));
    for (std::size_t i = 0; filter != 0 && i < line.size(); ++i) {
      const int a = i < step ? 0 : std::to_integer<int>(line[i - step]),
                b = std::to_integer<int>(above[i]);
      const int c = i < step ? 0 : std::to_integer<int>(above[i - step]);
      const int expected = filter == 1   ? a
                           : filter == 2 ? b
                           : filter == 3 ? (a + b) / 2
                                         : paeth(a, b, c);
      line[i] = static_cast<std::byte>(std::to_integer<int>(line[i]) + expected);
    }
  }
  static int paeth(int a, int b, int c) {
    const int pa = std::abs(b - c), pb = std::abs(a - c), pc = std::abs(a + b - 2 * c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
  }

  void read_line(std::span<const std::byte> line, const Pass& pass, index_t y, Image& image) const {
    const auto step = static_cast<std::size_t>(pass.dx * image.channels);
    std::uint8_t* to =
        image.pixels.data() + ((pass.y0 + y * pass.dy) * width_ + pass.x0) * image.channels;
    // Most files.
    if (depth_ == 8 && color_ != indexed && transparent_.empty() && !is_interlaced_) {
      std::memcpy(to, line.data(), line.size());
      return;
    }
    const auto count = static_cast<std::size_t>(samples());
    const index_t columns = pass.columns(width_);
    for (std::size_t x = 0; x < static_cast<std::size_t>(columns); ++x, to += step) {
      if (color_ == indexed) {
        const std::size_t index = sample(line, x);
        if (3 * index >= palette_.size())
          reader_.fail(concat("color ", index, " (the palette has ", palette_.size() / 3, ")"));
        for (std::size_t c = 0; c < 3; ++c)
          to[c] = std::to_integer<std::uint8_t>(palette_[3 * index + c]);
        if (!transparent_.empty())
          to[3] = index < transparent_.size() ? std::to_integer<std::uint8_t>(transparent_[index])
                                              : 255;
        continue;
      }
      bool is_transparent = true;
      for (std::size_t c = 0; c < count; ++c) {
        const unsigned value = sample(line, count * x + c);
        to[c] = static_cast<std::uint8_t>(depth_ == 16 ? value >> 8
                                                       : value * (255u / ((1u << depth_) - 1)));
        if (!transparent_.empty())
          is_transparent &= value == (std::to_integer<unsigned>(transparent_[2 * c]) << 8 |
                                      std::to_integer<unsigned>(transparent_[2 * c + 1]));
      }
      if (!transparent_.empty()) to[count] = is_transparent ? 0 : 255;
    }
  }
  // Returns sample i of a row.
  unsigned sample(std::span<const std::byte> line, std::size_t i) const {
    const auto at = [&](std::size_t k) {
      return std::to_integer<unsigned>(line[k]);
    };
    if (depth_ == 8) return at(i);
    if (depth_ == 16) return at(2 * i) << 8 | at(2 * i + 1);
    const auto depth = static_cast<std::size_t>(depth_), per_byte = 8 / depth;
    return at(i / per_byte) >> (per_byte - 1 - i % per_byte) * depth & ((1u << depth) - 1);
  }

  ReadImageOptions options_;
  ByteReader reader_;
  index_t width_ = 0, height_ = 0;
  int depth_ = 0;  // bits of a sample
  std::uint8_t color_ = 0;
  bool is_interlaced_ = false;
  std::span<const std::byte> palette_, transparent_;  // contents of PLTE and tRNS
  std::vector<std::span<const std::byte>> packed_;    // contents of the IDAT chunks
};

}  // namespace detail

// Returns whether the contents of a file begin like a PNG file.
inline bool is_png(std::span<const std::byte> file) {
  return detail::as_text(file).starts_with("\x89PNG\r\n\x1A\n");
}

// Decodes a PNG file of any kind. Returns its own channels (the palette's if it has one, and one
// for alpha if a color is transparent); of 16-bit samples the upper 8 bits. `place` begins the
// messages. Throws Error if the file is damaged or cut short, or the program has no codec
// (zlib.hpp).
inline Image decode_png(std::span<const std::byte> file, const std::string& place,
                        const ReadImageOptions& options = {}) {
  require(deflate_codec() != nullptr, place,
          " is a PNG image, which this program cannot decompress: include <gpunet/io/zlib.hpp> in "
          "one source and link zlib (gpunet::zlib, -lz), or save it as BMP or PPM");
  return detail::PngReader(file, place, options).read();
}

}  // namespace gpunet::io
