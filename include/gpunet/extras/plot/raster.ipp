// Bodies of raster.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/extras/plot/raster.hpp>
#include <gpunet/extras/plot/strokes.hpp>

namespace gpunet::plot {

namespace detail {

// Draws with antialiasing: a pixel gets as much of a color as the shape covers of it.
class Raster {
 public:
  Raster(const Scene& scene, double scale, Theme theme) : scale_(scale), theme_(theme) {
    image_.width = static_cast<index_t>(std::ceil(scene.width * scale));
    image_.height = static_cast<index_t>(std::ceil(scene.height * scale));
    require(image_.width >= 1 && image_.height >= 1 && image_.width <= 32'768 &&
                image_.height <= 32'768,
            "gpunet::plot: a picture of ", image_.width, " x ", image_.height,
            " pixels (want 1 to 32768 each way), change its size or the scale");
    image_.pixels.resize(static_cast<std::size_t>(image_.width * image_.height * 3));
    // The last pixels may be partly outside.
    draw(Box{{0, 0}, scene.width + 1, scene.height + 1, paper});
    for (const Mark& mark : scene.marks)
      std::visit([this](const auto& m) { draw(m); }, mark);
  }
  io::Image image() && { return std::move(image_); }

 private:
  // Pixels [first, last).
  struct Range {
    index_t first, last;
  };
  static Range range(double from, double to, index_t size) {
    const auto limit = static_cast<double>(size);
    return {static_cast<index_t>(std::clamp(std::floor(from), 0.0, limit)),
            static_cast<index_t>(std::clamp(std::ceil(to), 0.0, limit))};
  }

  // Blends in sixteenths: fewer colors make smaller files. Two curves in 1280 x 800 pixels have 44
  // KB instead of 58.
  void blend(index_t x, index_t y, Color color, double share) {
    share = std::round(16 * share) / 16;
    const std::uint32_t rgb = theme_ == Theme::light ? color.light : color.dark;
    std::uint8_t* pixel = image_.pixels.data() + (y * image_.width + x) * 3;
    for (int c = 0; c < 3; ++c) {
      const double wanted = rgb >> (16 - 8 * c) & 0xFF;
      pixel[c] = static_cast<std::uint8_t>(std::lround(pixel[c] + (wanted - pixel[c]) * share));
    }
  }

  // Returns the share of pixel i between two positions.
  static double covered(index_t i, double from, double to) {
    const auto low = static_cast<double>(i);
    return std::clamp(std::min(to, low + 1) - std::max(from, low), 0.0, 1.0);
  }

  void draw(const Box& box) {
    const double left = box.corner.x * scale_, right = left + box.width * scale_;
    const double top = box.corner.y * scale_, bottom = top + box.height * scale_;
    const Range xs = range(left, right, image_.width), ys = range(top, bottom, image_.height);
    for (index_t y = ys.first; y < ys.last; ++y)
      for (index_t x = xs.first; x < xs.last; ++x)
        blend(x, y, box.color, covered(x, left, right) * covered(y, top, bottom));
  }

  void draw(const Path& path) { draw_lines({path.points}, path.color, path.width); }

  // Draws lines of one color that meet and cross without a seam: each pixel is covered by its
  // nearest line.
  void draw_lines(const std::vector<std::vector<Point>>& lines, Color color, double width) {
    // Distance from the center line to the last covered pixel.
    const double reach = std::max(width * scale_, 1.0) / 2 + 0.5;
    std::vector<float> shares;
    double left = 1e9, right = -1e9, top = 1e9, bottom = -1e9;
    for (const auto& points : lines)
      for (Point p : points) {
        left = std::min(left, p.x * scale_ - reach), right = std::max(right, p.x * scale_ + reach);
        top = std::min(top, p.y * scale_ - reach), bottom = std::max(bottom, p.y * scale_ + reach);
      }
    const Range xs = range(left, right, image_.width), ys = range(top, bottom, image_.height);
    if (xs.first >= xs.last || ys.first >= ys.last) return;
    const index_t columns = xs.last - xs.first;
    shares.resize(static_cast<std::size_t>(columns * (ys.last - ys.first)));
    for (const auto& points : lines)
      for (std::size_t i = 0; i < points.size(); ++i) {
        const Point a = points[i > 0 ? i - 1 : 0], b = points[i];
        cover_segment({a.x * scale_, a.y * scale_}, {b.x * scale_, b.y * scale_}, reach, xs, ys,
                      shares);
      }
    for (index_t y = ys.first; y < ys.last; ++y)
      for (index_t x = xs.first; x < xs.last; ++x)
        if (const float share =
                shares[static_cast<std::size_t>((y - ys.first) * columns + x - xs.first)];
            share > 0)
          blend(x, y, color, static_cast<double>(share));
  }

  void cover_segment(Point a, Point b, double reach, Range xs, Range ys,
                     std::vector<float>& shares) const {
    const double dx = b.x - a.x, dy = b.y - a.y, squares = dx * dx + dy * dy;
    const Range columns =
        range(std::min(a.x, b.x) - reach, std::max(a.x, b.x) + reach, image_.width);
    const Range rows = range(std::min(a.y, b.y) - reach, std::max(a.y, b.y) + reach, image_.height);
    for (index_t y = std::max(rows.first, ys.first); y < std::min(rows.last, ys.last); ++y)
      for (index_t x = std::max(columns.first, xs.first); x < std::min(columns.last, xs.last);
           ++x) {
        const double px = static_cast<double>(x) + 0.5 - a.x,
                     py = static_cast<double>(y) + 0.5 - a.y;
        const double along = squares > 0 ? std::clamp((px * dx + py * dy) / squares, 0.0, 1.0) : 0;
        const double distance = std::hypot(px - along * dx, py - along * dy);
        float& share =
            shares[static_cast<std::size_t>((y - ys.first) * (xs.last - xs.first) + x - xs.first)];
        share = std::max(share, static_cast<float>(std::clamp(reach - distance, 0.0, 1.0)));
      }
  }

  void draw(const Label& label) {
    const double column = 0.1 * label.size, row = 0.118 * label.size, advance = 0.56 * label.size;
    const double shift[] = {0, 0.5, 1};
    double x = -shift[static_cast<int>(label.anchor)] * text_width(label.text, label.size);
    std::vector<std::vector<Point>> lines;
    for (char letter : label.text) {
      if (gpunet::detail::is_continuation(letter)) continue;
      lines.emplace_back();
      const std::string_view strokes = strokes_of(letter);
      for (std::size_t i = 0; i < strokes.size(); ++i) {
        if (strokes[i] == ' ') {
          lines.emplace_back();
          continue;
        }
        const double right = x + column * (strokes[i] - '0'), up = row * (strokes[i + 1] - '2');
        ++i;
        lines.back().push_back(label.upward ? Point{label.at.x - up, label.at.y - right}
                                            : Point{label.at.x + right, label.at.y - up});
      }
      x += advance;
    }
    draw_lines(lines, label.color, 0.09 * label.size);
  }

  void draw(const Picture& picture) {
    const double left = picture.corner.x * scale_, width = picture.width * scale_;
    const double top = picture.corner.y * scale_, height = picture.height * scale_;
    const io::Image& from = picture.image;
    const Range xs = range(left, left + width, image_.width),
                ys = range(top, top + height, image_.height);
    const auto nearest = [](index_t i, double begin, double size, index_t count) {
      const double share = (static_cast<double>(i) + 0.5 - begin) / size;
      return std::clamp(static_cast<index_t>(share * static_cast<double>(count)), index_t{0},
                        count - 1);
    };
    for (index_t y = ys.first; y < ys.last; ++y)
      for (index_t x = xs.first; x < xs.last; ++x) {
        const std::uint8_t* pixel =
            from.pixels.data() + (nearest(y, top, height, from.height) * from.width +
                                  nearest(x, left, width, from.width)) *
                                     from.channels;
        const bool colored = from.channels >= 3, has_alpha = from.channels % 2 == 0;
        const auto rgb = static_cast<std::uint32_t>(pixel[0] << 16 | pixel[colored ? 1 : 0] << 8 |
                                                    pixel[colored ? 2 : 0]);
        blend(x, y, {rgb, rgb}, has_alpha ? pixel[from.channels - 1] / 255.0 : 1);
      }
  }

  double scale_;
  Theme theme_;
  io::Image image_;
};

}  // namespace detail

GPUNET_INLINE io::Image rasterize(const Scene& scene, double scale, Theme theme) {
  return detail::Raster(scene, scale, theme).image();
}

}  // namespace gpunet::plot
