#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gpunet/io/bmp_reader.hpp>
#include <gpunet/io/png_reader.hpp>
#include <gpunet/io/pnm_reader.hpp>
#include <gpunet/io/read_image.hpp>

#include "test_config.hpp"

#if GPUNET_TEST_ZLIB
#include <gpunet/io/zlib.hpp>
#endif
#if GPUNET_TEST_STB
#include <gpunet/io/stb_image.hpp>
#endif

#include "io/image_files.hpp"
#include "io/temp_folder.hpp"
#include "support/allocations.hpp"
#include "support/fnv1a.hpp"

using namespace gpunet;
using io::Image;
using namespace std::string_literals;

namespace {

Image decoded(const std::string& file) {
  return io::decode_image(as_bytes(file), "x");
}
std::string decode_error(const std::string& file) {
  return error_of([&] { decoded(file); });
}

// What the program reads with; put back at the end.
class Libraries {
 public:
  Libraries() = default;
  Libraries(const Libraries&) = delete;
  Libraries& operator=(const Libraries&) = delete;
  ~Libraries() {
    io::deflate_codec() = codec_;
    io::other_images() = reader_;
  }

 private:
  const io::DeflateCodec* codec_ = io::deflate_codec();
  io::ImageReader reader_ = io::other_images();
};

// Red, green and blue of each pixel, or its alpha.
std::vector<std::uint8_t> colors(const Image& image) {
  std::vector<std::uint8_t> values;
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < image.pixels.size(); i += channels)
    for (std::size_t c = 0; c < 3; ++c)
      values.push_back(image.pixels[i + (channels < 3 ? 0 : c)]);
  return values;
}
std::vector<std::uint8_t> alpha(const Image& image) {
  std::vector<std::uint8_t> values;
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = channels - 1; i < image.pixels.size(); i += channels)
    values.push_back(image.pixels[i]);
  return values;
}

// A P3 file of another kind of header.
std::string text_image(const std::string& header) {
  return "P3" + header + "1 2 3  255 0 7";
}

}  // namespace

TEST_CASE("images of every kind are Pillow's") {
  for (const auto& file : image_files()) {
    if (!is_readable(file)) continue;
    CAPTURE(file.name);
    const Image image = decoded(file.bytes);
    CHECK(image.width == 9);
    CHECK(image.height == 6);
    REQUIRE(image.pixels.size() == static_cast<std::size_t>(9 * 6 * image.channels));
    CHECK(fnv1a(colors(image)) == file.colors);
    const bool has_alpha = image.channels == 2 || image.channels == 4;
    CHECK(has_alpha == (file.alpha != 0));
    if (has_alpha) CHECK(fnv1a(alpha(image)) == file.alpha);
  }
}

TEST_CASE("the contents tell what an image is, not the name") {
  const TempFolder folder;
  io::write_file_atomically(folder / "x.png", "P2 2 1 255 7 8"s);
  const Image image = io::read_image(folder / "x.png");
  CHECK(image.channels == 1);
  CHECK(image.pixels == std::vector<std::uint8_t>{7, 8});
  CHECK(error_of([&] { io::read_image(folder / "none.png"); }) ==
        "gpunet::io: cannot read " + folder / "none.png" +
            ": No such file or directory, check the path");
  CHECK(contains(error_of([&] { io::read_image(folder.path()); }),
                 "it is a folder, give a file in it"));
}

TEST_CASE("headers of text may have comments and any space") {
  for (const char* header : {" 2 1 255 ", "\n2\t1\r\n255\n", " #2 3\n2 #\r1 # 255\n255 "})
    CHECK(decoded(text_image(header)).pixels == std::vector<std::uint8_t>{1, 2, 3, 255, 0, 7});
  // More than white is white.
  CHECK(decoded("P5 1 1 10 \xFF"s).pixels == std::vector<std::uint8_t>{255});
  CHECK(decoded("P1 3 1 10#\n1"s).pixels == std::vector<std::uint8_t>{0, 255, 0});
  CHECK(decoded("P2 2# width\n1 255 7 8"s).pixels ==
        std::vector<std::uint8_t>{7, 8});  // a comment ends a number too
  CHECK(decoded("P5 1 1 255#c\nA"s).pixels == std::vector<std::uint8_t>{'A'});
  CHECK(contains(decode_error("P5 1 1 255#c"), "the file ends before the largest value"));
  CHECK(contains(decode_error("P3 2 1 7 1 2 3 8 0 7"),
                 "gpunet::io: x, byte 17: the value 8 (want at most 7)"));
  CHECK(contains(decode_error("P2 2 1 255 1 x"), "a value is no number of at most nine digits"));
  CHECK(contains(decode_error("P2 3 1 255 1 "), "3 x 1 pixels where 2 bytes are left"));
  CHECK(contains(decode_error("P2 2 1 255 12 "), "the file ends before a value"));
  CHECK(contains(decode_error("P5 1 1 65536 aa"), "the largest value is 65536 (want 1 to 65535)"));
  CHECK(contains(decode_error("P1 1 1 2"), "neither 0 nor 1"));
  CHECK(contains(decode_error("P5 0 1 255 a"), "an image of 0 x 1 (want sides of 1 or more"));
  CHECK(
      contains(decode_error("P5 999999999 999999999 255 a"), "an image of 999999999 x 999999999"));
}

TEST_CASE("what is no image says what it is, and what to do") {
  const auto error = decode_error;
  CHECK(error("") ==
        "gpunet::io: x is empty (a save or a download that failed?), save or fetch it again");
  CHECK(contains(error("<html>"), "x is a web page or XML"));
  CHECK(error("hello") ==
        "gpunet::io: x is no image that gpunet knows (PNG, BMP, PPM, PGM, PBM), save it as one of "
        "these");
  CHECK(error("RIFF\1\2\3\4WEBPVP8 ") ==
        "gpunet::io: x is a WebP image, which this program does not read: save it as PNG");
  for (const std::string& file : {"II*\0"s, "MM\0*"s})
    CHECK(contains(error(file), "x is a TIFF image, which"));
  CHECK(contains(error("\0\0\0\x1C"s + "ftypavif"), "AVIF"));
  std::string packed = image_file("BMP, 8 bits");
  packed[30] = 6;
  CHECK(contains(error(packed), "of the kind ALPHABITFIELDS (which"));
  packed[30] = 7;
  CHECK(contains(error(packed), "of the kind 7 (which"));
  packed[30] = 1;
  CHECK(error(packed) ==
        "gpunet::io: x is a BMP image of the kind RLE8 (which gpunet does not read), save it as "
        "PNG, or as BMP of 24 "
        "bits a pixel");
}

TEST_CASE("a color that the palette lacks is refused") {
  std::string bmp = image_file("BMP, 8 bits");  // of 20 colors
  bmp.back() = 0;
  bmp[bmp.size() - 12] = 20;
  CHECK(contains(decode_error(bmp), "color 20 (the palette has 20)"));
  bmp[bmp.size() - 12] = 19;
  CHECK(decode_error(bmp).empty());
}

TEST_CASE("without a library, images that need one say which") {
  const Libraries libraries;
  io::deflate_codec() = nullptr;
  io::other_images() = nullptr;
  CHECK(decode_error(image_file("PNG of type 2, 8 bits")) ==
        "gpunet::io: x is a PNG image, which this program cannot decompress: include "
        "<gpunet/io/zlib.hpp> in one "
        "source "
        "and link zlib (gpunet::zlib, -lz), or save it as BMP or PPM");
  CHECK(
      decode_error(jpeg_file()) ==
      "gpunet::io: x is a JPEG image, which this program does not read: save it as PNG, or include "
      "<gpunet/io/stb_image.hpp> in one source and link gpunet::stb_image (-lstb)");
}

TEST_CASE("an image of another reader is what it says") {
  const Libraries libraries;
  const std::string jpeg = jpeg_file();
  io::other_images() = [](std::span<const std::byte>, const std::string&,
                          const io::ReadImageOptions&) {
    return Image{2, 1, 1, {7, 8}};
  };
  CHECK(decoded(jpeg).pixels == std::vector<std::uint8_t>{7, 8});
  io::other_images() = [](std::span<const std::byte>, const std::string&,
                          const io::ReadImageOptions&) {
    return Image{2, 1, 1, {7}};
  };
  CHECK(decode_error(jpeg) ==
        "gpunet::io: x: an image of 2 x 1 with 1 channels has 1 bytes (want one for each channel "
        "of each pixel)");
}

TEST_CASE("an image with more pixels than the limit is refused before memory is taken for it") {
  for (const auto& file : image_files()) {  // of 9 x 6
    if (!is_readable(file)) continue;
    CAPTURE(file.name);
    CHECK(io::decode_image(as_bytes(file.bytes), "x", {.max_pixels = 54}).height == 6);
    CHECK(error_of([&] { io::decode_image(as_bytes(file.bytes), "x", {.max_pixels = 53}); }) ==
          "gpunet::io: x: an image of 9 x 6 pixels (want at most 53), fetch the file again if that "
          "is not its "
          "size, else "
          "raise the limit, {.max_pixels = ...}, or make it smaller");
  }
#if GPUNET_TEST_STB
  const std::string jpeg = jpeg_file();
  CHECK(contains(error_of([&] { io::decode_image(as_bytes(jpeg), "x", {.max_pixels = 53}); }),
                 "(want at most 53)"));
#endif
  const Count count;
  CHECK(contains(decode_error("P4 16384 16384 "),
                 "an image of 16384 x 16384 pixels (want at most 178956970)"));
  for (const std::int64_t limit : {std::int64_t{-1}, std::int64_t{0}})
    CHECK(contains(
        error_of([&] { io::decode_image(as_bytes("P5 1 1 255 a"s), "x", {.max_pixels = limit}); }),
        concat("an image of 1 x 1 pixels (want at most ", limit, ")")));
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(contains(error_of([&] {
                   io::decode_image(as_bytes("P5 999999999 999999999 255 a"s), "x",
                                    {.max_pixels = most});
                 }),
                 "an image of 999999999 x 999999999"));
  CHECK(count.largest() < 1 << 16);
}

#if GPUNET_TEST_ZLIB
// Beside the image, nothing that is as large.
TEST_CASE("a PNG image is decoded row by row") {
  const std::string file = io::encode_png({2000, 1500, 3, std::vector<std::uint8_t>(9'000'000, 7)});
  const Count count;
  const Image image = decoded(file);
  CHECK(count.bytes() < 9'000'000 + (1 << 16));
  CHECK(image.pixels[8'999'999] == 7);
}

TEST_CASE("a PNG image may be in any number of IDAT chunks") {
  const std::string file = io::encode_png({7, 5, 3, std::vector<std::uint8_t>(105, 9)});
  const std::size_t begin = 8 + 25, end = file.size() - 12;
  const std::string_view data = std::string_view(file).substr(begin + 8, end - 4 - begin - 8);
  for (const std::size_t length : {1u, 2u, 5u}) {
    std::string pieces = file.substr(0, begin) + io::detail::png_chunk("IDAT", "");
    for (std::size_t i = 0; i < data.size(); i += length)
      pieces +=
          io::detail::png_chunk("IDAT", data.substr(i, length)) + io::detail::png_chunk("IDAT", "");
    CHECK(decoded(pieces + file.substr(end)).pixels == std::vector<std::uint8_t>(105, 9));
  }
}

TEST_CASE("what gpunet writes it reads") {
  for (index_t channels = 1; channels <= 4; ++channels) {
    Image image{70, 31, channels};
    for (index_t i = 0; i < 70 * 31 * channels; ++i)
      image.pixels.push_back(static_cast<std::uint8_t>(i * i / 7));
    const Image again = decoded(io::encode_png(image));
    CHECK(again.width == 70);
    CHECK(again.height == 31);
    CHECK(again.channels == channels);
    CHECK(again.pixels == image.pixels);
  }
}

TEST_CASE("a PNG file whose parts contradict each other is refused") {
  const std::string good = io::encode_png({2, 1, 3, {255, 0, 0, 0, 0, 255}});
  const std::string header = good.substr(0, 8 + 25), end = io::detail::png_chunk("IEND", "");
  const std::string data = good.substr(header.size(), good.size() - header.size() - end.size());
  const auto chunk = io::detail::png_chunk;
  CHECK(decode_error(header + data + chunk("teXt", "any") + end + "and more").empty());
  CHECK(contains(decode_error(header + data), "the length of a chunk of 4 bytes where 0 are left"));
  CHECK(contains(decode_error(header + chunk("NEEd", "") + data + end),
                 "the chunk NEEd, which an image cannot do"));
  CHECK(contains(decode_error(header + header.substr(8) + data + end),
                 "where IHDR comes first and once"));
  CHECK(contains(decode_error(header + end), "no zlib stream in the IDAT chunks"));
  std::string other = good;
  other[20] ^= 1;
  CHECK(contains(decode_error(other), "the checksum of chunk IHDR is wrong"));
  const auto with_header = [&](const std::string& numbers) {
    return decode_error(header.substr(0, 8) + chunk("IHDR", numbers) + data + end);
  };
  CHECK(with_header("\0\0\0\2\0\0\0\1\x08\2\0\0\0"s).empty());
  CHECK(contains(with_header("\0\0\0\2\0\0\0\2\x08\2\0\0\0"s),
                 "pixels that cannot be decompressed, or too few"));
  CHECK(contains(with_header("\0\0\xFF\2\0\0\0\1\x08\2\0\0\0"s),
                 "packed ones (more than deflate can)"));
  CHECK(contains(with_header("\0\0\0\2\0\0\0\1\4\2\0\0\0"s), "color type 2 with 4 bits"));
  CHECK(contains(with_header("\0\0\0\2\0\0\0\1\x08\3\0\0\0"s), "a palette of 0 bytes"));
  const auto with_palette = [&](const std::string& palette) {
    const std::string pixels = io::detail::zlib_stream("\0\0\2"s);  // a filter, two colors
    return decode_error(header.substr(0, 8) + chunk("IHDR", "\0\0\0\2\0\0\0\1\x08\3\0\0\0"s) +
                        chunk("PLTE", palette) + chunk("IDAT", pixels) + end);
  };
  CHECK(with_palette("rgbrgbrgb").empty());
  CHECK(contains(with_palette("rgbrgb"), "color 2 (the palette has 2)"));
}
#endif

TEST_CASE("what is no image is an Error, whichever reader is asked for it") {
  for (const std::string& file :
       {""s, "P"s, "B"s, "PX"s, "P0 1 1 "s, "P7 1 1 "s, "X6 1 1 255 abc"s, "\x89PNG"s}) {
    CAPTURE(file);
    CHECK(contains(error_of([&] { io::decode_pnm(as_bytes(file), "gpunet::io: x"); }),
                   "gpunet::io: x, byte 0: "));
    CHECK(contains(error_of([&] { io::decode_bmp(as_bytes(file), "gpunet::io: x"); }),
                   "gpunet::io: x"));
    CHECK(contains(error_of([&] { io::decode_png(as_bytes(file), "gpunet::io: x"); }),
                   "gpunet::io: x"));
  }
}

#if GPUNET_TEST_STB
TEST_CASE("with stb, JPEG images are read") {
  const std::string file = jpeg_file();
  const Image image = decoded(file);
  CHECK(image.width == 9);
  CHECK(image.height == 6);
  const auto expected = pillow_images().values<std::uint8_t>("pixels of JPEG");
  REQUIRE(image.pixels.size() == expected.size());
  // Two decoders may be 1 apart in each of brightness and the two color differences, which count up
  // to 1.772 times.
  int apart = 0;
  for (std::size_t i = 0; i < image.pixels.size(); ++i)
    apart = std::max(apart, std::abs(image.pixels[i] - expected[i]));
  CHECK(apart <= 3);
  const std::string cut = file.substr(0, file.size() - 20);
  CHECK(decode_error(cut) ==
        "gpunet::io: x ends in the middle of its image (it is cut off), fetch it again");
  // Which has an end of its own.
  const std::string preview = "\xFF\xD8\xFF\xE1\0\4\xFF\xD9"s + file.substr(2);
  CHECK(decoded(preview).pixels == image.pixels);
  CHECK(
      contains(decode_error(preview.substr(0, preview.size() - 20)), "in the middle of its image"));
  // As behind photographs with a film.
  CHECK(decoded(file + "\xFF\xDA and more"s).pixels == image.pixels);
  CHECK(decoded(file + file).pixels == image.pixels);
  CHECK(contains(decode_error(cut + std::string(100, '\0') + file), "in the middle of its image"));
  CHECK(contains(decode_error(file.substr(0, 30) + "\xFF\xD9"s), "in the middle of its image"));
  for (std::size_t length = 3; length < file.size(); ++length)
    CHECK(contains(decode_error(file.substr(0, length)), "in the middle of its image"));
  CHECK(contains(decode_error("\xFF\xD8\xFF\xDA\0\2\xFF\xD9"s), "gpunet::io: x: stb says '"));
  std::string huge = file;
  const std::size_t sizes = huge.find("\xFF\xC0") + 5;
  huge.replace(sizes, 4, "\x30\x00\x30\x00"s);
  CHECK(contains(decode_error(huge), "gpunet::io: x: an image of 12288 x 12288 in "));
}
#endif
