// What a picture consists of, before it is written as SVG or drawn as pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gpunet/core/config.hpp>
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
Color series_color(std::size_t i);

// From a (share 0) to b (share 1).
Color mix(Color a, Color b, double share);

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

// What stands around a diagram.
struct Titles {
  std::string title = {}, x_label = {}, y_label = {};
};

// About how wide a text will be.
double text_width(const std::string& text, double size);

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/plot/scene.ipp>
#endif
