// Grids of images.
#pragma once

#include <string>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/extras/plot/scene.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::plot {

// Options of a grid of images. Lengths are in pixels.
struct ImageGridOptions {
  std::string title = {};                  // above the grid
  index_t columns = 8;                     // images in a row
  double size = 64;                        // the longer side of each image
  std::vector<std::string> captions = {};  // one below each image, or none
};

// Returns the images in rows of `columns`. Throws Error for an image without pixels or with the
// wrong number of bytes.
Scene image_grid(const std::vector<io::Image>& images, const ImageGridOptions& options = {});

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/extras/plot/image_grid.ipp>
#endif
