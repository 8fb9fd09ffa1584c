// Diagrams as files.
#pragma once

#include <string>

#include <gpunet/core/config.hpp>
#include <gpunet/plot/raster.hpp>
#include <gpunet/plot/scene.hpp>

namespace gpunet::plot {

// Writes a .svg, which follows the reader's light or dark page, or a .png with two pixels a unit.
void save(const std::string& path, const Scene& scene, Theme theme = Theme::light);

// Throws Error where save() would, for who trains for an hour before there is something to save.
void probe(const std::string& path);

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/plot/save.ipp>
#endif
