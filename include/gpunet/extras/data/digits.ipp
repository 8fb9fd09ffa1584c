// Bodies of digits.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include <gpunet/data/dataset.hpp>
#include <gpunet/data/sample_random.hpp>
#include <gpunet/extras/data/digits.hpp>

namespace gpunet::data {

namespace detail::digits {

inline constexpr int side = 28, unit = 64;  // units per pixel

// Returns the strokes of a digit as points for curve().
GPUNET_INLINE std::vector<std::vector<Point>> strokes_of(int digit) {
  switch (digit) {
    case 0:
      return {{{8, -50}, {-22, -32}, {-30, 4}, {-16, 44}, {8, 48}, {28, 24}, {28, -20}, {8, -50}}};
    case 1:
      return {{{-14, -30}, {2, -48}}, {{2, -48}, {0, 50}}};
    case 2:
      return {{{-26, -26}, {-10, -48}, {18, -44}, {24, -20}, {0, 14}, {-28, 46}},
              {{-28, 46}, {32, 44}}};
    case 3:
      return {{{-24, -38}, {4, -50}, {24, -32}, {12, -8}, {-6, -2}},
              {{-6, -2}, {20, 6}, {26, 30}, {4, 50}, {-28, 38}}};
    case 4:
      return {{{-8, -48}, {-28, 10}}, {{-28, 10}, {32, 8}}, {{16, -28}, {10, 50}}};
    case 5:
      return {{{28, -48}, {-18, -46}},
              {{-18, -46}, {-24, -8}},
              {{-24, -8}, {8, -14}, {28, 12}, {14, 44}, {-26, 44}}};
    case 6:
      return {{{20, -48}, {-16, -18}, {-26, 24}, {-4, 50}, {24, 36}, {20, 6}, {-6, 2}, {-24, 22}}};
    case 7:
      return {{{-28, -44}, {28, -46}}, {{28, -46}, {6, 0}, {-8, 50}}};
    case 8:
      return {{{22, -34},
               {0, -50},
               {-20, -32},
               {0, -6},
               {24, 24},
               {2, 50},
               {-24, 26},
               {2, -4},
               {22, -34}}};
    default:
      return {{{24, -24}, {2, -48}, {-24, -28}, {-6, -2}, {22, -18}},
              {{24, -30}, {20, 12}, {4, 50}}};
  }
}

GPUNET_INLINE std::vector<Point> curve(const std::vector<Point>& through) {
  GPUNET_ASSERT(!through.empty());
  std::vector<Point> points;
  const std::size_t last = through.size() - 1;
  for (std::size_t i = 0; i < last; ++i) {
    const Point a = through[i == 0 ? 0 : i - 1], b = through[i], c = through[i + 1],
                d = through[std::min(i + 2, last)];
    for (int t = 0; t < 4; ++t) {  // at t / 4, in integers
      const auto at = [t](int p, int q, int r, int s) {
        return (128 * q + 16 * t * (r - p) + 4 * t * t * (2 * p - 5 * q + 4 * r - s) +
                t * t * t * (3 * q - p - 3 * r + s)) /
               128;
      };
      points.push_back({at(a.x, b.x, c.x, d.x), at(a.y, b.y, c.y, d.y)});
    }
  }
  points.push_back(through.back());
  return points;
}

// A handwriting: x' = x0 + (xx x + xy y) / 1024, y' = y0 + (yx x + yy y) / 1024, in 1/64 pixel, and
// the radius of the pen.
struct Hand {
  int x0, xx, xy, y0, yx, yy, radius;

  explicit Hand(Random& random) {
    const double height = random.uniform(0.14, 0.175),
                 width = height * random.uniform(0.8, 1.1);  // pixels per unit
    const double angle = random.uniform(-0.2, 0.2), slant = random.uniform(-0.25, 0.12);
    const auto whole = [](double value) {
      return static_cast<int>(std::lround(value));
    };
    xx = whole(1024 * unit * width * std::cos(angle));
    xy = whole(1024 * unit * (width * slant * std::cos(angle) - height * std::sin(angle)));
    yx = whole(1024 * unit * width * std::sin(angle));
    yy = whole(1024 * unit * (width * slant * std::sin(angle) + height * std::cos(angle)));
    x0 = whole(unit * (side / 2 + random.uniform(-1, 1)));
    y0 = whole(unit * (side / 2 + random.uniform(-1, 1)));
    radius = whole(unit * random.uniform(0.7, 1.5));
  }
  Point on_paper(const Point& p) const {
    return {x0 + (xx * p.x + xy * p.y) / 1024, y0 + (yx * p.x + yy * p.y) / 1024};
  }
};

// Draws a line with round ends. A pixel is the maximum over the lines that cover it.
GPUNET_INLINE void draw(const Point& a, const Point& b, int radius, std::uint8_t* image) {
  const int dx = b.x - a.x, dy = b.y - a.y, length = std::max(dx * dx + dy * dy, 1);
  const auto pixels = [&](int from, int to) {
    const int reach = radius + unit;
    return std::pair(std::max((std::min(from, to) - reach) / unit, 0),
                     std::min((std::max(from, to) + reach) / unit, side - 1));
  };
  const auto [left, right] = pixels(a.x, b.x);
  const auto [top, bottom] = pixels(a.y, b.y);
  for (int y = top; y <= bottom; ++y)
    for (int x = left; x <= right; ++x) {
      const int px = x * unit + unit / 2 - a.x, py = y * unit + unit / 2 - a.y;
      const std::int64_t along = std::clamp(px * dx + py * dy, 0, length);
      const int ex = px - static_cast<int>(along * dx / length),
                ey = py - static_cast<int>(along * dy / length);
      // (r^2 - e^2) / 2 r is about r - e near the edge, where half of the pixel is covered
      const int inside = (radius * radius - ex * ex - ey * ey) / (2 * radius);
      std::uint8_t& pixel = image[y * side + x];
      pixel = std::max(pixel, static_cast<std::uint8_t>(std::clamp(128 + 4 * inside, 0, 255)));
    }
}

}  // namespace detail::digits

GPUNET_INLINE ImageBytes Digits::image(index_t i, std::vector<std::uint8_t>& buffer) const {
  detail::check_sample(i, size());
  const auto label = static_cast<label_t>(i % 10);
  Random random(seed_, static_cast<std::uint64_t>(i));
  const detail::digits::Hand hand(random);
  buffer.assign(static_cast<std::size_t>(sizes.numel()), 0);
  for (std::vector<detail::digits::Point> stroke :
       detail::digits::strokes_of(static_cast<int>(label))) {
    for (detail::digits::Point& p : stroke)
      p = {p.x + random.integer(-4, 4), p.y + random.integer(-4, 4)};
    const std::vector<detail::digits::Point> points = detail::digits::curve(stroke);
    for (std::size_t k = 1; k < points.size(); ++k)
      detail::digits::draw(hand.on_paper(points[k - 1]), hand.on_paper(points[k]), hand.radius,
                           buffer.data());
  }
  return {{buffer.data(), sizes}, label};
}

}  // namespace gpunet::data
