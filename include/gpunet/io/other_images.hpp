// Where images that gpunet does not read itself meet the library that does.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <gpunet/io/image.hpp>
#include <gpunet/io/image_sides.hpp>

namespace gpunet::io {

// Makes an image of a file's contents. `place` begins its messages. Throws Error.
using ImageReader = Image (*)(std::span<const std::byte> file, const std::string& place,
                              const ReadImageOptions& options);

// The reader of the program, null where it has none; <gpunet/io/stb_image.hpp> is one. A pointer, as in deflate.hpp.
inline ImageReader& other_images() {
  static ImageReader reader = nullptr;
  return reader;
}

}  // namespace gpunet::io
