// What all readers of images ask of a size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/core/sizes.hpp>

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
inline void check_image_sides(std::string_view place, std::int64_t width, std::int64_t height,
                              const ReadImageOptions& options) {
  require(width >= 1 && height >= 1, place, ": an image of ", width, " x ", height,
          " (want sides of 1 and more), fetch the file again");
  constexpr std::int64_t most = std::int64_t{1} << 50;  // below which sizes in bits are no overflow
  require(width <= std::clamp(options.max_pixels, std::int64_t{0}, most) / height, place, ": an image of ", width,
          " x ", height, " pixels (want at most ", options.max_pixels,
          "), fetch the file again if that is not its size, else raise the limit, {.max_pixels = ...}, or make it "
          "smaller");
}

}  // namespace detail

}  // namespace gpunet::io
