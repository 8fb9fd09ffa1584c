// What the targets of images share.
#pragma once

#include <gpunet/io/image.hpp>

#include "fuzz.hpp"
#include "io/image_files.hpp"

namespace fuzz {

inline void check_image(const gpunet::io::Image& image) {
  ensure(image.width >= 1 && image.height >= 1 && image.channels >= 1 && image.channels <= 4,
         "an image of no size");
  ensure(static_cast<gpunet::index_t>(image.pixels.size()) ==
             image.width * image.height * image.channels,
         "an image without the bytes of its size");
}

// The small images of the tests whose names begin like this.
inline std::vector<std::string> images(std::string_view begin) {
  std::vector<std::string> files;
  for (const auto& file : image_files())
    if (file.name.starts_with(begin)) files.push_back(file.bytes);
  return files;
}

}  // namespace fuzz
