// What all readers of images ask of a size.
#pragma once

#include <cstdint>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/core/sizes.hpp>

namespace gpunet::io::detail {

// As many as Resize makes at most; Pillow refuses images with more than 179 million.
constexpr std::int64_t most_image_pixels = 1 << 28;

// Throws Error unless both sides are 1 and more and the image has no more pixels than that; `place` begins the message.
inline void check_image_sides(std::string_view place, std::int64_t width, std::int64_t height) {
  require(width >= 1 && height >= 1 && width <= most_image_pixels / height, place, ": an image of ", width, " x ",
          height, " (want sides of 1 and more and at most ", most_image_pixels,
          " pixels), make it smaller, or fetch the file again if that is not its size");
}

}  // namespace gpunet::io::detail
