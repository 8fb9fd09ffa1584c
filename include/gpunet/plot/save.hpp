// Diagrams as files.
#pragma once

#include <string>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/plot/raster.hpp>
#include <gpunet/plot/svg.hpp>

namespace gpunet::plot {

// Writes a .svg, which follows the reader's light or dark page, or a .png with two pixels a unit.
inline void save(const std::string& path, const Scene& scene, Theme theme = Theme::light) {
  const auto ends_with = [&](std::string_view suffix) {
    return std::string_view(path).ends_with(suffix);
  };
  if (ends_with(".svg"))
    io::write_file_atomically(path, to_svg(scene));
  else if (ends_with(".png"))
    io::save_png(path, rasterize(scene, 2, theme));
  else
    require(false, "gpunet::plot::save: ", path, " ends neither in .svg nor in .png, the two kinds there are");
}

// Throws Error where save() would, for who trains for an hour before there is something to save.
inline void probe(const std::string& path) {
  require(path.ends_with(".svg") || path.ends_with(".png"), "gpunet::plot::save: ", path,
          " ends neither in .svg nor in .png, the two kinds there are");
  const io::AtomicFile file(path);
}

}  // namespace gpunet::plot
