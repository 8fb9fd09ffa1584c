// What all readers of images share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <gpunet/core/config.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::io {

// Which images are read.
struct ReadImageOptions {
  // An image with more pixels is an Error, before memory is taken for it: a file of 32 KB can have a billion. The default
  // is where Pillow takes an image for an attack (twice its Image.MAX_IMAGE_PIXELS).
  std::int64_t max_pixels = 178'956'970;
};

namespace detail {

// Throws Error unless both sides are 1 and more and the image has no more pixels than the options allow; `place` begins
// the message.
void check_image_sides(std::string_view place, std::int64_t width, std::int64_t height,
                       const ReadImageOptions& options);

}  // namespace detail

// Makes an image of a file's contents. `place` begins its messages. Throws Error.
using ImageReader = Image (*)(std::span<const std::byte> file, const std::string& place,
                              const ReadImageOptions& options);

// The reader of the program, null where it has none; <gpunet/io/stb_image.hpp> is one. A pointer, as in deflate.hpp.
ImageReader& other_images();

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/image_reader.ipp>
#endif
