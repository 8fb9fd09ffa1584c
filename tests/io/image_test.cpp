#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string>

#include <gpunet/io/deflate.hpp>
#include <gpunet/io/image.hpp>

#include "test_config.hpp"

#if GPUNET_TEST_ZLIB
#include <gpunet/io/zlib.hpp>
#endif

#include "io/temp_folder.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using io::Image;
using namespace std::string_literals;

namespace {

// Takes this file's codec away, so that what is packed does not depend on who has zlib in the
// program.
class WithoutCodec {
 public:
  WithoutCodec() { io::deflate_codec() = nullptr; }
  WithoutCodec(const WithoutCodec&) = delete;
  WithoutCodec& operator=(const WithoutCodec&) = delete;
  ~WithoutCodec() { io::deflate_codec() = codec_; }

 private:
  const io::DeflateCodec* codec_ = io::deflate_codec();
};

}  // namespace

TEST_CASE("pixels of arrays") {
  const Image rgb = io::to_image(std::vector<float>{0, 1, 0.5f, 0.25f, -1, 2}, {3, 1, 2});
  CHECK(rgb.width == 2);
  CHECK(rgb.height == 1);
  CHECK(rgb.channels == 3);
  CHECK(rgb.pixels == std::vector<std::uint8_t>{0, 127, 0, 255, 63, 255});
  const Image gray = io::to_image(std::vector<double>{0.999, std::nan("")}, {2, 1});
  CHECK(gray.height == 2);
  CHECK(gray.pixels == std::vector<std::uint8_t>{254, 0});
  CHECK(io::to_image(std::vector<std::uint8_t>{1, 255}, {1, 1, 2}).pixels ==
        std::vector<std::uint8_t>{1, 255});
  const float large = std::numeric_limits<float>::infinity();
  CHECK(io::to_image(std::vector<float>{large, -large}, {1, 2}).pixels ==
        std::vector<std::uint8_t>{255, 0});
}

TEST_CASE("what is no image") {
  CHECK(contains(
      error_of([] {
        io::to_image(std::vector<float>(5), {5, 1, 1});
      }),
      "gpunet::io: an array of shape [5, 1, 1] is no image (want [channels, height, width]"));
  CHECK(contains(error_of([] {
                   io::to_image(std::vector<float>(3), {2, 2});
                 }),
                 "3 values for an image of shape"));
  CHECK(contains(error_of([] {
                   io::encode_png({0, 1, 3, {}});
                 }),
                 "an image of 0 x 1 (want 1 to 2147483647"));
  CHECK(contains(error_of([] {
                   io::encode_png({1, 0, 3, {}});
                 }),
                 "an image of 1 x 0 (want 1 to 2147483647"));
  CHECK(contains(error_of([] {
                   io::encode_png({1, index_t{1} << 31, 3, {}});
                 }),
                 "an image of 1 x 2147483648"));
  CHECK(contains(error_of([] { io::encode_png({1, 1, 0, {}}); }), "with 0 channels"));
  CHECK(contains(error_of([] {
                   io::encode_png({2147483647, 2147483647, 4, {}});
                 }),
                 "channels has 0 bytes"));
  CHECK(contains(error_of([] {
                   io::encode_png({1, 1, 5, std::vector<std::uint8_t>(5)});
                 }),
                 "with 5 channels"));
  CHECK(contains(
      error_of([] {
        io::encode_png({2, 2, 1, std::vector<std::uint8_t>(3)});
      }),
      "an image of 2 x 2 with 1 channels has 3 bytes (want one for each channel of each pixel)"));
}

// The bytes by Python: zlib.compressobj(9, strategy=Z_FIXED) between chunks with zlib.crc32.
TEST_CASE("the bytes of a PNG file") {
  const WithoutCodec without;
  const std::string png = io::encode_png({2, 1, 3, {255, 1, 2, 3, 4, 5}});
  CHECK(png ==
        "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\2\0\0\0\1\x08\2\0\0\0{@"
        "\xe8\xdd\0\0\0\x0fIDATx\1c\xf8\xcf\xc8\xc4"
        "\xcc\xc2\x0a\0\6$\1\x0f"
        "c\5J\xa4\0\0\0\0IEND\xae"
        "B`\x82"s);
}

TEST_CASE("deflate_fixed packs runs, and noise grows little") {
  CHECK(io::detail::deflate_fixed("") == "\3\0"s);  // zlib's
  CHECK(io::detail::deflate_fixed(std::string(100'000, 'x')).size() < 100'000 / 100);
  std::string noise;
  for (unsigned i = 0, x = 1; i < 10'000; ++i, x = x * 1664525u + 1013904223u)
    noise += static_cast<char>(x >> 24);
  CHECK(io::detail::deflate_fixed(noise).size() < 10'700);
}

#if GPUNET_TEST_ZLIB
TEST_CASE("zlib decompresses the streams of deflate_fixed") {
  unsigned x = 1;
  const auto next = [&](unsigned below) {
    x = x * 1664525u + 1013904223u;
    return (x >> 16) % below;
  };
  for (int trial = 0; trial < 300; ++trial) {
    // Bytes, runs, and copies from before, of all lengths and distances.
    std::string text;
    for (unsigned pieces = next(40); pieces > 0; --pieces) {
      const unsigned kind = next(3), length = 1u << next(15);
      if (kind == 0 || text.empty())
        for (unsigned i = 0; i < length % 300 + 1; ++i)
          text += static_cast<char>(next(256));
      else if (kind == 1)
        text.append(length + next(9), static_cast<char>(next(256)));
      else
        for (std::size_t i = 0, from = next(static_cast<unsigned>(text.size())); i < length; ++i)
          text += text[from + i];
    }
    const std::string packed = io::detail::deflate_fixed(text);
    std::string out(text.size(), '\0');
    const auto inflater = io::deflate_codec()->inflater({std::as_bytes(std::span(packed))});
    CHECK(io::detail::read_last(*inflater, std::as_writable_bytes(std::span(out))));
    CHECK((out == text));
  }
}

TEST_CASE("with zlib, images are packed") {
  const Image image{100, 50, 3, std::vector<std::uint8_t>(15'000, 7)};
  const std::string packed = io::encode_png(image);
  CHECK(packed.size() < 1000);
  const std::string data = packed.substr(8 + 25 + 8);
  std::vector<std::byte> lines(15'050);
  const auto end = data.find("IEND") - 8 - 4;  // checksums: of the chunk, Adler's
  const auto inflater =
      io::deflate_codec()->inflater({std::as_bytes(std::span(data)).subspan(2, end - 2)});
  CHECK(io::detail::read_last(*inflater, lines));
  CHECK(lines[0] == std::byte{0});
  CHECK(lines[301] == std::byte{0});
  CHECK(lines[302] == std::byte{7});
}
#endif

TEST_CASE("a PNG file is written") {
  const TempFolder folder;
  const Image image{1, 1, 1, {9}};
  io::save_png(folder / "one.png", image);
  CHECK(read_text(folder / "one.png") == io::encode_png(image));
  CHECK(contains(error_of([&] { io::save_png(folder / "no/one.png", image); }),
                 folder / "no/one.png"));
}
