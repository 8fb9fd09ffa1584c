// Diagrams as files.
#pragma once

#include <string>

#include <gpunet/core/error.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/plot/raster.hpp>
#include <gpunet/plot/svg.hpp>

namespace gpunet::plot {

namespace detail {

// Whether the file is to be a .svg; else it is a .png. Throws Error for another ending.
inline bool is_svg(const std::string& path) {
  require(path.ends_with(".svg") || path.ends_with(".png"), "gpunet::plot::save: ", path,
          " ends neither in .svg nor in .png, the two kinds there are");
  return path.ends_with(".svg");
}

}  // namespace detail

// Writes a .svg, which follows the reader's light or dark page, or a .png with two pixels a unit.
inline void save(const std::string& path, const Scene& scene, Theme theme = Theme::light) {
  if (detail::is_svg(path))
    io::write_file_atomically(path, to_svg(scene));
  else
    io::save_png(path, rasterize(scene, 2, theme));
}

// Throws Error where save() would, for who trains for an hour before there is something to save.
inline void probe(const std::string& path) {
  detail::is_svg(path);
  const io::AtomicFile file(path);
}

}  // namespace gpunet::plot
