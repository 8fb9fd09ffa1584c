// What a picture consists of, before it is written as SVG or drawn as pixels.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gpunet/core/text.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::plot {

// 0xRRGGBB, on a light page and on a dark one.
struct Color {
  std::uint32_t light = 0, dark = 0xFFFFFF;
  bool operator==(const Color&) const = default;
};

inline constexpr Color paper{0xFFFFFF, 0x0D1117};
inline constexpr Color ink{0x1F2328, 0xE6EDF3};
inline constexpr Color muted{0x59636E, 0x9198A1};
inline constexpr Color faint{0xD9DEE4, 0x2F353D};

// Of the first series, the second, ...: distinct for most kinds of color blindness, and begins again after the eighth.
inline Color series_color(std::size_t i) {
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

// From a (share 0) to b (share 1).
inline Color mix(Color a, Color b, double share) {
  const auto channel = [&](std::uint32_t from, std::uint32_t to, int shift) {
    const double x = from >> shift & 0xFF, y = to >> shift & 0xFF;
    return static_cast<std::uint32_t>(std::lround(x + (y - x) * share)) << shift;
  };
  const auto both = [&](std::uint32_t from, std::uint32_t to) {
    return channel(from, to, 16) | channel(from, to, 8) | channel(from, to, 0);
  };
  return {both(a.light, b.light), both(a.dark, b.dark)};
}

// In units of a CSS pixel, from the top left.
struct Point {
  double x = 0, y = 0;
};

struct Path {
  std::vector<Point> points;
  Color color = ink;
  double width = 1;
};

struct Box {
  Point corner;
  double width = 0, height = 0;
  Color color = ink;
};

enum class Anchor { start, middle, end };

// A line of text, UTF-8, whose baseline begins, is centred or ends at a point.
struct Label {
  Point at;
  std::string text;
  Anchor anchor = Anchor::start;
  double size = 12;
  Color color = ink;
  bool upward = false;  // turned by a quarter, to be read from the right
};

struct Picture {
  Point corner;
  double width = 0, height = 0;
  io::Image image;
};

using Mark = std::variant<Path, Box, Label, Picture>;

// Marks on a page, later ones above earlier ones.
struct Scene {
  double width = 640, height = 400;
  std::vector<Mark> marks = {};

  // Of one kind, which makes no Mark to be moved: g++ 12 warns of what the other kinds would have in it.
  template <class Kind>
  void add(Kind mark) {
    marks.emplace_back(std::move(mark));
  }
};

// About how wide a text will be.
inline double text_width(const std::string& text, double size) {
  return 0.56 * size * static_cast<double>(gpunet::detail::characters(text));
}

}  // namespace gpunet::plot
