// Bodies of terminal.hpp.
#pragma once

#include <cstddef>

#include <gpunet/core/error.hpp>
#include <gpunet/extras/plot/terminal.hpp>

namespace gpunet::plot {

GPUNET_INLINE std::string half_blocks(const io::Image& image) {
  io::detail::check_image("gpunet::plot::half_blocks", image);
  const auto color = [&](index_t x, index_t y) {
    const auto at = static_cast<std::size_t>((y * image.width + x) * image.channels);
    const std::size_t step = image.channels >= 3 ? 1 : 0;  // gray: the same byte three times
    return concat(int{image.pixels[at]}, ";", int{image.pixels[at + step]}, ";",
                  int{image.pixels[at + 2 * step]});
  };
  std::string out;
  for (index_t y = 0; y < image.height; y += 2) {
    if (y > 0) out += "\n";
    std::string before;
    for (index_t x = 0; x < image.width; ++x) {
      std::string colors = concat("\x1b[38;2;", color(x, y));
      if (y + 1 < image.height) colors += concat(";48;2;", color(x, y + 1));
      if (colors != before) out += concat(colors, "m");
      before = colors;
      out += "▀";
    }
    out += "\x1b[0m";
  }
  return out;
}

}  // namespace gpunet::plot
