// Saves plots in files.
#pragma once

#include <string>

#include <gpunet/core/config.hpp>
#include <gpunet/extras/plot/raster.hpp>
#include <gpunet/extras/plot/scene.hpp>

namespace gpunet::plot {

// Writes a .svg file, which follows the reader's light or dark page (`theme` has no effect), or a
// .png file with two pixels per unit. Throws Error for another extension, or if the file cannot be
// written.
void save(const std::string& path, const Scene& scene, Theme theme = Theme::light);

// Throws Error if save() would: call it before a long training.
void probe(const std::string& path);

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/extras/plot/save.ipp>
#endif
