// Reads PBM, PGM and PPM files, the images of Netpbm.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::io {

namespace detail {

// Reads P1 to P6: black and white, gray, or color, as text or as bytes (manual pages pbm(5), pgm(5)
// and ppm(5)).
class PnmReader {
 public:
  PnmReader(std::string_view file, std::string place, const ReadImageOptions& options)
      : options_(options), file_(file), place_(std::move(place)) {}

  Image read() {
    if (file_.size() < 2 || file_[0] != 'P' || file_[1] < '1' || file_[1] > '6')
      fail("no P1 to P6");
    const char kind = file_[1];
    const bool is_text = kind <= '3', is_bits = kind == '1' || kind == '4';
    at_ = 2;
    const std::int64_t width = number("the width"), height = number("the height");
    check_image_sides(place_, width, height, options_);
    most_ = is_bits ? 1 : number("the largest value");
    if (most_ < 1 || most_ > 65535)
      fail(concat("the largest value is ", most_, " (want 1 to 65535)"));

    Image image{width, height, kind == '3' || kind == '6' ? 3 : 1};
    const auto row = static_cast<std::size_t>(width * image.channels),
               rows = static_cast<std::size_t>(height);
    const std::size_t row_bytes = is_text   ? row
                                  : is_bits ? (row + 7) / 8
                                            : row * (most_ > 255 ? 2 : 1);
    if (rows > (file_.size() - at_) / row_bytes)
      fail(concat(width, " x ", height, " pixels where ", file_.size() - at_, " bytes are left"));
    image.pixels.resize(rows * row);
    if (is_text)
      for (std::uint8_t& value : image.pixels)
        value = is_bits ? text_bit() : scaled(checked(number("a value")));
    else
      for (std::size_t y = 0; y < rows; ++y)
        read_row(std::span(image.pixels).subspan(y * row, row),
                 file_.substr(at_ + y * row_bytes, row_bytes), is_bits);
    return image;
  }

 private:
  static bool is_space(char c) { return c == ' ' || ('\t' <= c && c <= '\r'); }

  void read_row(std::span<std::uint8_t> row, std::string_view bytes, bool is_bits) const {
    const auto at = [&](std::size_t i) {
      return static_cast<std::int64_t>(static_cast<unsigned char>(bytes[i]));
    };
    for (std::size_t x = 0; x < row.size(); ++x)
      row[x] = is_bits        ? (at(x / 8) >> (7 - x % 8) & 1 ? 0 : 255)
               : most_ == 255 ? static_cast<std::uint8_t>(at(x))
               : most_ < 255  ? scaled(at(x))
                              : scaled(at(2 * x) << 8 | at(2 * x + 1));
  }

  // Returns a value scaled to 0 ... 255, rounded as Pillow does. Byte values that are too large
  // count as the largest.
  std::uint8_t scaled(std::int64_t value) const {
    const double part = static_cast<double>(value) / static_cast<double>(most_);
    return static_cast<std::uint8_t>(std::min(255.0, std::nearbyint(part * 255)));
  }
  std::int64_t checked(std::int64_t value) const {
    if (value > most_) fail(concat("the value ", value, " (want at most ", most_, ")"));
    return value;
  }

  // Returns the next character. A comment counts as the line break at its end, as in Netpbm.
  char next(std::string_view what) {
    const auto take = [&] {
      if (at_ >= file_.size()) fail(concat("the file ends before ", what));
      return file_[at_++];
    };
    char c = take();
    if (c == '#')
      while (c != '\n' && c != '\r')
        c = take();
    return c;
  }
  // Reads a number and the one space after it, which may be missing only at the end of the file.
  std::int64_t number(std::string_view what) {
    char c = next(what);
    while (is_space(c))
      c = next(what);
    std::int64_t value = 0;
    for (; !is_space(c); c = next(what)) {
      if (c < '0' || c > '9' || value > 99'999'999)
        fail(concat(what, " is no number of at most nine digits"));
      value = 10 * value + (c - '0');
      if (at_ == file_.size()) break;
    }
    return value;
  }
  std::uint8_t text_bit() {
    char c = next("a value");
    while (is_space(c))
      c = next("a value");
    if (c != '0' && c != '1') fail("a value that is neither 0 nor 1");
    return c == '1' ? 0 : 255;  // 1 is black
  }

  [[noreturn]] void fail(std::string_view what) const {
    throw_error(Error(concat(place_, ", byte ", at_, ": ", what, ' ', ByteReader::default_advice)));
  }

  ReadImageOptions options_;
  std::string_view file_;
  std::string place_;
  std::size_t at_ = 0;
  std::int64_t most_ = 1;  // the value of white
};

}  // namespace detail

// Returns whether the contents of a file begin like a PNM file.
inline bool is_pnm(std::span<const std::byte> file) {
  const std::string_view text = detail::as_text(file);
  return text.size() >= 3 && text[0] == 'P' && '1' <= text[1] && text[1] <= '6' &&
         std::string_view(" \t\n\v\f\r").find(text[2]) != std::string_view::npos;
}

// Decodes a PBM, PGM or PPM file, the first image if it has several. Returns 1 or 3 channels.
// `place` begins the messages. Throws Error if the file is damaged or cut short.
inline Image decode_pnm(std::span<const std::byte> file, const std::string& place,
                        const ReadImageOptions& options = {}) {
  return detail::PnmReader(detail::as_text(file), place, options).read();
}

}  // namespace gpunet::io
