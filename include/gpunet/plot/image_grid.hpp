// Images side by side.
#pragma once

#include <string>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/io/image.hpp>
#include <gpunet/plot/scene.hpp>

namespace gpunet::plot {

// How a grid looks; lengths in pixels of the picture.
struct ImageGridOptions {
  std::string title = {};                  // over it
  index_t columns = 8;                     // images in a row
  double size = 64;                        // of the longer side of each image
  std::vector<std::string> captions = {};  // one below each image, or none
};

// Images in rows of `columns`. Throws Error for an image without pixels, or with too few or too many bytes.
Scene image_grid(const std::vector<io::Image>& images, const ImageGridOptions& options = {});

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/plot/image_grid.ipp>
#endif
