// Writes scenes as SVG.
#pragma once

#include <string>

#include <gpunet/core/config.hpp>
#include <gpunet/extras/plot/scene.hpp>

namespace gpunet::plot {

// Returns the scene as a self-contained SVG document: no external fonts, scripts or files; light or
// dark as the reader prefers.
std::string to_svg(const Scene& scene);

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/extras/plot/svg.ipp>
#endif
