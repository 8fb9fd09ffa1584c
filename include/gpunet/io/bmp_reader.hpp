// Reads BMP files, the bitmaps of Windows.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::io {

namespace detail {

// Headers are as Microsoft describes them (BITMAPCOREHEADER, BITMAPINFOHEADER and its later
// versions).
class BmpReader {
 public:
  BmpReader(std::span<const std::byte> file, const std::string& place,
            const ReadImageOptions& options)
      : options_(options), file_(file), reader_(file, place) {}

  Image read() {
    read_header();
    const std::int64_t height = height_ < 0 ? -height_ : height_;
    check_image_sides(reader_.place(), width_, height, options_);
    const auto width = static_cast<std::size_t>(width_), rows = static_cast<std::size_t>(height);
    const std::size_t row_bytes = (width * bits_ + 7) / 8, stride = (width * bits_ + 31) / 32 * 4;
    const std::size_t begin = std::max<std::size_t>(pixels_begin_, reader_.position());
    // The last row may lack its padding to four bytes.
    if (begin > file_.size() || (rows - 1) * stride + row_bytes > file_.size() - begin)
      reader_.fail(concat(width, " x ", height, " pixels from byte ", begin,
                          " on where the file has ", file_.size(), " bytes"));

    Image image{width_, height, masks_[3] ? 4 : 3};
    const auto channels = static_cast<std::size_t>(image.channels);
    image.pixels.resize(rows * width * channels);
    for (std::size_t y = 0; y < rows; ++y) {
      // Rows go from the bottom up, unless the height is negative.
      const std::size_t line = height_ < 0 ? y : rows - 1 - y;
      const auto from = file_.subspan(begin + line * stride, row_bytes);
      std::uint8_t* to = image.pixels.data() + y * width * channels;
      for (std::size_t x = 0; x < width; ++x, to += channels)
        read_pixel(from, x, to, channels);
    }
    return image;
  }

 private:
  void read_header() {
    reader_.take(10, "a header");
    pixels_begin_ = reader_.number<std::uint32_t>("where pixels begin");
    const auto header = reader_.number<std::uint32_t>("the size of the header");
    constexpr std::array known{12u, 40u, 52u, 56u, 64u, 108u, 124u};
    if (std::find(known.begin(), known.end(), header) == known.end())
      reader_.fail(concat("a header of ", header, " bytes, which no BMP file has"));
    const bool is_core = header == 12;
    width_ = is_core ? reader_.number<std::uint16_t>("the width")
                     : reader_.number<std::int32_t>("the width");
    height_ = is_core ? reader_.number<std::uint16_t>("the height")
                      : reader_.number<std::int32_t>("the height");
    reader_.take(2, "the planes");
    bits_ = reader_.number<std::uint16_t>("the bits of a pixel");
    std::uint32_t compression = 0, colors = 0;
    if (!is_core) {
      compression = reader_.number<std::uint32_t>("the compression");
      reader_.take(12, "the header");
      colors = reader_.number<std::uint32_t>("the number of colors");
      reader_.take(4, "the header");
    }
    check_kind(compression);
    if (compression == bit_fields)  // after a header of 40 bytes, inside a longer one
      for (std::size_t c = 0; c < (header >= 56 && header != 64 ? 4u : 3u); ++c)
        masks_[c] = reader_.number<std::uint32_t>("the bits of a channel");
    else if (bits_ == 16)
      masks_ = {0x7C00, 0x3E0, 0x1F, 0};
    check_masks();
    if (const std::size_t end = 14 + std::size_t{header}; end > reader_.position())
      reader_.take(end - reader_.position(), "the header");
    if (bits_ <= 8) read_palette(colors, is_core ? 3 : 4);
  }

  void check_kind(std::uint32_t compression) const {
    constexpr std::array<std::string_view, 7> kinds{"",     "RLE8", "RLE4",          "",
                                                    "JPEG", "PNG",  "ALPHABITFIELDS"};
    require(compression == 0 || compression == bit_fields, reader_.place(),
            " is a BMP image of the kind ",
            compression < kinds.size() ? std::string(kinds[compression]) : concat(compression),
            " (which gpunet does not read), save it as PNG, or as BMP of 24 bits a pixel");
    constexpr std::array known{1u, 4u, 8u, 16u, 24u, 32u};
    if (std::find(known.begin(), known.end(), bits_) == known.end() ||
        (compression == bit_fields && bits_ < 16))
      reader_.fail(concat(bits_, " bits a pixel, which a BMP file of its kind has not"));
  }
  // Checks that the bits of each channel are contiguous, and that there are some.
  void check_masks() const {
    for (std::size_t c = 0; c < 4 && bits_ > 8; ++c) {
      const std::uint32_t ones = masks_[c] >> std::countr_zero(masks_[c] | 1u << 31);
      if ((masks_[c] == 0 && c < 3) || (ones & (ones + 1)) != 0)
        reader_.fail(concat("the bits ", masks_[c], " of channel ", c,
                            " (want some, and next to each other)"));
    }
  }
  void read_palette(std::uint32_t colors, std::size_t entry) {
    const std::uint32_t most = 1u << bits_;
    colors_ = colors == 0 ? most : std::min(colors, most);
    palette_ = reader_.take(entry * colors_, "a palette");
    palette_entry_ = entry;
  }

  void read_pixel(std::span<const std::byte> row, std::size_t x, std::uint8_t* to,
                  std::size_t channels) const {
    if (bits_ <= 8) {
      const std::size_t per_byte = 8 / bits_, shift = (per_byte - 1 - x % per_byte) * bits_;
      const std::size_t index =
          std::to_integer<std::size_t>(row[x / per_byte]) >> shift & ((1u << bits_) - 1);
      if (index >= colors_)
        reader_.fail(concat("color ", index, " (the palette has ", colors_, ")"));
      for (std::size_t c = 0; c < 3; ++c)
        // Blue is first.
        to[c] = std::to_integer<std::uint8_t>(palette_[index * palette_entry_ + 2 - c]);
      return;
    }
    std::uint32_t pixel = 0;  // little-endian, as this machine
    std::memcpy(&pixel, row.data() + x * bits_ / 8, bits_ / 8);
    for (std::size_t c = 0; c < channels; ++c) {
      const int shift = std::countr_zero(masks_[c]);
      const std::uint64_t most = masks_[c] >> shift;
      to[c] = static_cast<std::uint8_t>(std::uint64_t{(pixel & masks_[c]) >> shift} * 255 / most);
    }
  }

  static constexpr std::uint32_t bit_fields = 3;

  ReadImageOptions options_;
  std::span<const std::byte> file_;
  ByteReader reader_;
  std::uint32_t pixels_begin_ = 0;
  std::int64_t width_ = 0, height_ = 0;
  std::uint32_t bits_ = 0;                                         // of a pixel
  std::array<std::uint32_t, 4> masks_{0xFF0000, 0xFF00, 0xFF, 0};  // red, green, blue, alpha
  std::span<const std::byte> palette_;                             // [colors_][palette_entry_]
  std::size_t colors_ = 0, palette_entry_ = 0;
};

}  // namespace detail

// Returns whether the contents of a file begin like a BMP file.
inline bool is_bmp(std::span<const std::byte> file) {
  return detail::as_text(file).starts_with("BM");
}

// Decodes an uncompressed BMP file: 1, 4 or 8 bits with a palette, 16, 24 or 32 bits per pixel.
// Returns 3 channels, or 4 if the header says which bits are alpha. `place` begins the messages.
// Throws Error if the file is damaged, cut short or of another kind.
inline Image decode_bmp(std::span<const std::byte> file, const std::string& place,
                        const ReadImageOptions& options = {}) {
  return detail::BmpReader(file, place, options).read();
}

}  // namespace gpunet::io
