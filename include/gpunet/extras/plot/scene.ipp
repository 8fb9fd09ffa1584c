// Bodies of scene.hpp.
#pragma once

#include <array>
#include <cmath>

#include <gpunet/core/text.hpp>
#include <gpunet/extras/plot/scene.hpp>

namespace gpunet::plot {

GPUNET_INLINE Color series_color(std::size_t i) {
  static constexpr std::array<Color, 8> colors{{{0x1F6FEB, 0x58A6FF},
                                                {0xC4560A, 0xF0883E},
                                                {0x1A7F37, 0x3FB950},
                                                {0x8250DF, 0xBC8CFF},
                                                {0x0E7490, 0x39C5CF},
                                                {0xBF3989, 0xFF8AC4},
                                                {0x8A6D00, 0xE3B341},
                                                {0xC62828, 0xFF7B72}}};
  return colors[i % colors.size()];
}

GPUNET_INLINE Color mix(Color a, Color b, double share) {
  const auto channel = [&](std::uint32_t from, std::uint32_t to, int shift) {
    const double x = from >> shift & 0xFF, y = to >> shift & 0xFF;
    return static_cast<std::uint32_t>(std::lround(x + (y - x) * share)) << shift;
  };
  const auto both = [&](std::uint32_t from, std::uint32_t to) {
    return channel(from, to, 16) | channel(from, to, 8) | channel(from, to, 0);
  };
  return {both(a.light, b.light), both(a.dark, b.dark)};
}

GPUNET_INLINE double text_width(const std::string& text, double size) {
  return 0.56 * size * static_cast<double>(gpunet::detail::characters(text));
}

}  // namespace gpunet::plot
