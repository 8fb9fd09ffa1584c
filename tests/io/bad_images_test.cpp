// Image files of every kind, cut at every byte and with every byte changed: an Error that names the
// file, or an image of the size that it says; nothing else, and little memory before that is known.
#include <algorithm>
#include <cstddef>
#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <string_view>

#include <gpunet/io/crc32.hpp>
#include <gpunet/io/read_image.hpp>

#include "test_config.hpp"

#if GPUNET_TEST_ZLIB
#include <gpunet/io/zlib.hpp>
#endif
#if GPUNET_TEST_STB
#include <gpunet/io/stb_image.hpp>
#endif

#include "io/image_files.hpp"
#include "support/allocations.hpp"

using namespace gpunet;

namespace {

constexpr std::size_t most_memory = 1 << 20;  // bytes that may be asked for at once

// Whether it is read. Whatever else is wrong than an Error that names the file fails the test.
bool reads(const std::string& file) {
  std::optional<io::Image> image;
  std::string problem;
  std::size_t largest = 0;
  {
    const Count count;
    try {
      image = io::decode_image(as_bytes(file), "the file");
    } catch (const Error& error) {
      if (!std::string_view(error.what()).starts_with("gpunet::io: the file"))
        problem = error.what();
    }
    largest = count.largest();
  }
  if (largest > most_memory) problem = concat(largest, " bytes at once");
  if (image &&
      static_cast<index_t>(image->pixels.size()) != image->width * image->height * image->channels)
    problem = concat("an image of ", image->pixels.size(), " bytes");
  if (!problem.empty()) FAIL_CHECK(problem);
  return image.has_value();
}

// A PNG file with the right checksums: else nothing behind them would ever be changed. Others as
// they are.
std::string with_sums(std::string file) {
  if (!file.starts_with("\x89PNG")) return file;
  for (std::size_t at = 8; at + 12 <= file.size();) {
    std::size_t length = 0;
    for (std::size_t i = at; i < at + 4; ++i)
      length = length << 8 | static_cast<unsigned char>(file[i]);
    if (length > file.size() - at - 12) break;
    const std::uint32_t sum = io::detail::crc32(as_bytes(file).subspan(at + 4, 4 + length));
    file.replace(at + 8 + length, 4, io::detail::png_number(sum));
    at += 12 + length;
  }
  return file;
}

}  // namespace

TEST_CASE("an image cut at any byte is an Error, or lacks nothing but what fills it up") {
  for (const auto& each : image_files()) {
    if (!is_readable(each)) continue;
    CAPTURE(each.name);
    const std::string& file = each.bytes;
    REQUIRE(reads(file));
    // The filling of the last row of a BMP; the last digits of a value that is text.
    const std::size_t filling = file[0] == 'B' ? 3 : file[0] == 'P' && file[1] <= '3' ? 4 : 0;
    for (std::size_t i = 0; i < file.size(); ++i)
      if (reads(file.substr(0, i)) && i + filling < file.size())
        FAIL_CHECK("read with " << i << " of " << file.size() << " bytes");
  }
}

TEST_CASE("an image with any byte changed is an Error or an image") {
  std::size_t good = 0, all = 0;
  const auto check = [&](const std::string& whole) {
    for (std::size_t i = 0; i < whole.size(); ++i)
      // All bits, one bit, and what is largest.
      for (const int flip : {0xFF, 1 << i % 8, 0xFF ^ static_cast<unsigned char>(whole[i])}) {
        std::string file = whole;
        file[i] = static_cast<char>(file[i] ^ flip);
        good += reads(with_sums(file));
        ++all;
      }
  };
  for (const auto& each : image_files()) {
    CAPTURE(each.name);
    if (is_readable(each)) check(each.bytes);
  }
  CHECK(good > all / 10);  // those in pixels
  CHECK(good < all);
#if GPUNET_TEST_STB
  const std::string jpeg = jpeg_file();
  check(jpeg);
  for (std::size_t i = 0; i < jpeg.size(); ++i)
    if (reads(jpeg.substr(0, i)))
      FAIL_CHECK("read with " << i << " of " << jpeg.size() << " bytes");
#endif
}
