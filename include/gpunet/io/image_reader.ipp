// Bodies of image_reader.hpp.
#pragma once

#include <algorithm>

#include <gpunet/core/error.hpp>
#include <gpunet/io/image_reader.hpp>

namespace gpunet::io {

namespace detail {

GPUNET_INLINE void check_image_sides(std::string_view place, std::int64_t width, std::int64_t height,
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

GPUNET_INLINE ImageReader& other_images() {
  static ImageReader reader = nullptr;
  return reader;
}

}  // namespace gpunet::io
