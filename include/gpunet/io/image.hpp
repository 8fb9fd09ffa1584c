// Images in memory, and PNG files written from them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/core/error.hpp>
#include <gpunet/core/shape.hpp>

namespace gpunet::io {

// An image: pixels row by row from the top left, `channels` bytes each: 1 gray, 2 gray and alpha, 3
// RGB, 4 RGBA.
struct Image {
  index_t width = 0, height = 0, channels = 3;
  std::vector<std::uint8_t> pixels = {};
};

// Limits for reading images.
struct ReadImageOptions {
  // An image with more pixels is an Error, thrown before memory is allocated: a file of 32 KB can
  // declare a billion pixels. The default is Pillow's limit, twice its Image.MAX_IMAGE_PIXELS.
  std::int64_t max_pixels = 178'956'970;
};

// Returns the image of an array [channels, height, width] or [height, width] with numbers from 0 to
// 1 (others are clamped, NaN is 0), or with bytes. Throws Error for another shape or number of
// values.
template <class T>
Image to_image(const std::vector<T>& values, const Sizes& sizes);

namespace detail {

// Throws Error unless the image has sides that PNG allows, 1 to 4 channels and the right number of
// bytes.
void check_image(std::string_view where, const Image& image);

// Throws Error unless both sides are 1 or more and the image has at most options.max_pixels pixels.
// `place` begins the message.
void check_image_sides(std::string_view place, std::int64_t width, std::int64_t height,
                       const ReadImageOptions& options);

// Returns the number in 4 bytes, big-endian, as in PNG files.
std::string png_number(std::uint32_t value);

std::string png_chunk(std::string_view type, std::string_view data);

// Returns the bytes as a deflate stream (RFC 1951) of one block with the fixed codes, without a
// library. The 1112 kB of rows of docs/images/playground.png become 174 kB (141 kB by zlib, level
// 6); noise grows by 5.5 %.
std::string deflate_fixed(std::string_view bytes);

// Returns a zlib stream (RFC 1950) of the bytes, compressed if the program has a codec.
std::string zlib_stream(std::string_view bytes);

}  // namespace detail

// Returns a PNG file (W3C's specification, third edition) with 8 bits per channel. Photographs are
// smaller if the program has zlib (io/zlib.hpp). Throws Error if pixels and sizes do not match.
std::string encode_png(const Image& image);

// Writes a PNG file, as AtomicFile. Throws Error naming the file.
void save_png(const std::string& path, const Image& image);

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
      else  // this order of operands makes NaN 0; truncated as by PyTorch's writer
        image.pixels[i * channels + c] =
            static_cast<std::uint8_t>(std::min(T{255}, std::max(T{0}, value * 255)));
    }
  return image;
}

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/image.ipp>
#endif
