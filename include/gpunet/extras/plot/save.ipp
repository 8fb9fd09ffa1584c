// Bodies of save.hpp.
#pragma once

#include <gpunet/core/error.hpp>
#include <gpunet/extras/plot/save.hpp>
#include <gpunet/extras/plot/svg.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::plot {

namespace detail {

// Returns whether the extension is .svg rather than .png. Throws Error for any other.
GPUNET_INLINE bool is_svg(const std::string& path) {
  require(path.ends_with(".svg") || path.ends_with(".png"), "gpunet::plot::save: ", path,
          " ends neither in .svg nor in .png (the supported formats), use one of them");
  return path.ends_with(".svg");
}

}  // namespace detail

GPUNET_INLINE void save(const std::string& path, const Scene& scene, Theme theme) {
  if (detail::is_svg(path))
    io::write_file_atomically(path, to_svg(scene));
  else
    io::save_png(path, rasterize(scene, 2, theme));
}

GPUNET_INLINE void probe(const std::string& path) {
  detail::is_svg(path);
  const io::AtomicFile file(path);
}

}  // namespace gpunet::plot
