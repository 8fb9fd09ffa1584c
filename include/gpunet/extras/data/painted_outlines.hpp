// The outlines of the figures that painted_shapes.hpp draws.
#pragma once

#include <algorithm>

namespace gpunet::data::figures {

// A figure is a function of a point (u, v) in its own coordinates, where it fits a circle of radius
// `unit`. It returns about the distance of the point from the outline, negative inside. Integer
// arithmetic makes the images the same for every compiler.
inline constexpr int unit_bits = 10, unit = 1 << unit_bits;

constexpr int product(int a, int b) {
  return a * b >> unit_bits;
}
constexpr int magnitude(int a) {
  return std::max(a, -a);
}
constexpr int norm(int u, int v) {
  return product(u, u) + product(v, v);  // the square of the distance from the center
}

constexpr int disc(int u, int v) {
  return (norm(u, v) - unit) / 2;  // (r^2 - 1) / 2 is r - 1 near r = 1
}
constexpr int ring(int u, int v) {
  return (magnitude(norm(u, v) - 650) - 350) / 2;
}
constexpr int square(int u, int v) {
  return std::max(magnitude(u), magnitude(v)) - 800;
}
constexpr int frame(int u, int v) {
  return magnitude(std::max(magnitude(u), magnitude(v)) - 630) - 200;
}
constexpr int triangle(int u, int v) {
  return std::max(v, product(887, magnitude(u)) - v / 2) - 512;
}
constexpr int bar(int u, int v) {
  return std::max(magnitude(u) - 1000, magnitude(v) - 260);
}
constexpr int cross(int u, int v) {
  return std::min(bar(u, v), bar(v, u));
}
constexpr int star(int u, int v) {  // the points beyond at most one of five lines
  u = magnitude(u);
  const int lines[] = {-v, product(974, u) - product(316, v), product(602, u) + product(828, v),
                       product(828, v) - product(602, u), -product(974, u) - product(316, v)};
  int first = lines[0], second = -unit * unit;
  for (int i = 1; i < 5; ++i) {
    second = std::max(second, std::min(first, lines[i]));
    first = std::max(first, lines[i]);
  }
  return second - 370;
}
constexpr int crescent(int u, int v) {
  return std::max(disc(u, v), (660 - norm(u - 520, v)) / 2);
}
constexpr int hourglass(int u, int v) {
  return std::max(magnitude(v) - 850, product(724, magnitude(u) - magnitude(v)) - 60);
}

}  // namespace gpunet::data::figures
