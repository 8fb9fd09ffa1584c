// Bodies of svg.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gpunet/core/text.hpp>
#include <gpunet/extras/plot/svg.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::plot {

namespace detail {

// Returns the number with at most two decimals: a hundredth of a pixel.
GPUNET_INLINE std::string svg_number(double value) {
  std::string number = gpunet::detail::fixed_text(value, 2);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number == "-0" ? "0" : number;
}

GPUNET_INLINE std::string svg_color(std::uint32_t rgb) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "#%06x", rgb);
  return text.data();
}

// Returns a text escaped for XML. Control characters, which XML does not allow, become spaces.
GPUNET_INLINE std::string svg_text(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return gpunet::detail::xml_text(text);
}

class SvgWriter {
 public:
  explicit SvgWriter(const Scene& scene) {
    add(Box{{0, 0}, scene.width, scene.height, paper});
    for (const Mark& mark : scene.marks)
      std::visit([this](const auto& m) { add(m); }, mark);
    const std::string width = svg_number(scene.width), height = svg_number(scene.height);
    text_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
            "\" viewBox=\"0 0 " + width + " " + height +
            "\" font-family=\"system-ui, sans-serif\">\n" + style() + body_ + "</svg>\n";
  }
  std::string text() && { return std::move(text_); }

 private:
  // Colors are CSS classes, so that the reader's preference for dark pages chooses among them.
  std::string style() const {
    std::string light, dark;
    for (std::size_t i = 0; i < colors_.size(); ++i)
      for (auto [rules, rgb] :
           {std::pair(&light, colors_[i].light), std::pair(&dark, colors_[i].dark)}) {
        const std::string name = std::to_string(i), color = svg_color(rgb);
        *rules +=
            ".f" + name + "{fill:" + color + "}.s" + name + "{fill:none;stroke:" + color + "}";
      }
    return "<style>" + light + "@media (prefers-color-scheme: dark){" + dark + "}</style>\n";
  }

  std::string of_class(char kind, Color color) {
    const auto found = std::find(colors_.begin(), colors_.end(), color);
    const auto i = found - colors_.begin();
    if (found == colors_.end()) colors_.push_back(color);
    return std::string(" class=\"") + kind + std::to_string(i) + "\"";
  }
  static std::string frame(Point corner, double width, double height) {
    return " x=\"" + svg_number(corner.x) + "\" y=\"" + svg_number(corner.y) + "\" width=\"" +
           svg_number(width) + "\" height=\"" + svg_number(height) + "\"";
  }

  void add(const Path& path) {
    if (path.points.empty()) return;
    body_ += "<polyline" + of_class('s', path.color) + " stroke-width=\"" + svg_number(path.width) +
             "\" stroke-linejoin=\"round\" stroke-linecap=\"round\" points=\"";
    const auto go_to = [this](Point p) {
      body_ += svg_number(p.x) + "," + svg_number(p.y) + " ";
    };
    for (Point p : path.points)
      go_to(p);
    // A dot: SVG does not draw a line of one point.
    if (path.points.size() == 1) go_to(path.points[0]);
    body_.back() = '"';
    body_ += "/>\n";
  }
  void add(const Box& box) {
    body_ += "<rect" + of_class('f', box.color) + frame(box.corner, box.width, box.height) + "/>\n";
  }
  void add(const Label& label) {
    static constexpr std::array<std::string_view, 3> anchors{"start", "middle", "end"};
    const std::string x = svg_number(label.at.x), y = svg_number(label.at.y);
    body_ += "<text" + of_class('f', label.color) + " x=\"" + x + "\" y=\"" + y +
             "\" font-size=\"" + svg_number(label.size) + "\"";
    if (label.anchor != Anchor::start)
      body_ += " text-anchor=\"" + std::string(anchors.at(static_cast<std::size_t>(label.anchor))) +
               "\"";
    if (label.upward) body_ += " transform=\"rotate(-90 " + x + " " + y + ")\"";
    body_ += ">" + svg_text(label.text) + "</text>\n";
  }
  void add(const Picture& picture) {
    body_ += "<image" + frame(picture.corner, picture.width, picture.height) +
             " preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
             "href=\"data:image/png;base64," +
             gpunet::detail::base64(io::encode_png(picture.image)) + "\"/>\n";
  }

  std::vector<Color> colors_;
  std::string body_, text_;
};

}  // namespace detail

GPUNET_INLINE std::string to_svg(const Scene& scene) {
  return detail::SvgWriter(scene).text();
}

}  // namespace gpunet::plot
