// Scenes: the shapes of a plot, before they are written as SVG or drawn as pixels.
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

// A color, 0xRRGGBB, for a light page and for a dark one.
struct Color {
  std::uint32_t light = 0, dark = 0xFFFFFF;
  bool operator==(const Color&) const = default;
};

inline constexpr Color paper{0xFFFFFF, 0x0D1117};
inline constexpr Color ink{0x1F2328, 0xE6EDF3};
inline constexpr Color muted{0x59636E, 0x9198A1};
inline constexpr Color faint{0xD9DEE4, 0x2F353D};

// Returns the color of series i: distinct for most kinds of color blindness, repeating after eight.
Color series_color(std::size_t i);

// Returns a mix of two colors, from a (share 0) to b (share 1).
Color mix(Color a, Color b, double share);

// A position in CSS pixels, from the top left.
struct Point {
  double x = 0, y = 0;
};

// A line through points.
struct Path {
  std::vector<Point> points;
  Color color = ink;
  double width = 1;
};

// A filled rectangle.
struct Box {
  Point corner;
  double width = 0, height = 0;
  Color color = ink;
};

enum class Anchor { start, middle, end };

// A line of text (UTF-8) whose baseline starts, is centered or ends at a point.
struct Label {
  Point at;
  std::string text;
  Anchor anchor = Anchor::start;
  double size = 12;
  Color color = ink;
  bool upward = false;  // rotated by 90 degrees, read from bottom to top
};

// An image scaled to a rectangle.
struct Picture {
  Point corner;
  double width = 0, height = 0;
  io::Image image;
};

using Mark = std::variant<Path, Box, Label, Picture>;

// A page with marks; later ones are above earlier ones.
struct Scene {
  double width = 640, height = 400;
  std::vector<Mark> marks = {};

  // Appends a mark. Takes its concrete type, since moving a Mark makes g++ 12 warn of members of
  // the other types.
  template <class Kind>
  void add(Kind mark) {
    marks.emplace_back(std::move(mark));
  }
};

// The title of a plot and the names of its axes.
struct Titles {
  std::string title = {}, x_label = {}, y_label = {};
};

// Returns the approximate width of a text.
double text_width(const std::string& text, double size);

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/extras/plot/scene.ipp>
#endif
