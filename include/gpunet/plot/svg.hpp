// Scenes as SVG.
#pragma once

#include <string>

#include <gpunet/core/config.hpp>
#include <gpunet/plot/scene.hpp>

namespace gpunet::plot {

// The scene as a text of its own: no fonts, scripts or files beside it, light or dark as the reader prefers.
std::string to_svg(const Scene& scene);

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/plot/svg.ipp>
#endif
