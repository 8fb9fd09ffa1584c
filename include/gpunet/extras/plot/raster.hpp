// Draws scenes as pixels.
#pragma once

#include <gpunet/core/config.hpp>
#include <gpunet/extras/plot/scene.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::plot {

enum class Theme { light, dark };

// Returns the scene as an RGB image with `scale` pixels per unit. Only ASCII letters are drawn;
// others become frames.
io::Image rasterize(const Scene& scene, double scale = 2, Theme theme = Theme::light);

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/extras/plot/raster.ipp>
#endif
