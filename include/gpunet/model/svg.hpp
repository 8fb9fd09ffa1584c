// A network as a picture in SVG.
#pragma once

#include <gpunet/model/diagram.hpp>

namespace gpunet {

namespace detail {

// Colours fit a light page and, where the reader's system is dark, a dark one; those of arrows and shapes can be read on
// both, so that a page that is dark for itself does no harm.
inline constexpr std::string_view network_style = R"(<style>
.gpunet-network text { font: 13px Helvetica, Arial, sans-serif; text-anchor: middle; fill: #1f2328 }
.gpunet-network .title { font-weight: bold; font-size: 14px }
.gpunet-network .shape { font-size: 12px; text-anchor: start; fill: #6e7781 }
.gpunet-network .end { fill: #6e7781 }
.gpunet-network rect { fill: #f6f8fa; stroke: #afb8c1 }
.gpunet-network .learns { fill: #ddf4ff; stroke: #54aeff }
.gpunet-network path { fill: #6e7781; stroke: #6e7781 }
@media (prefers-color-scheme: dark) {
.gpunet-network text { fill: #e6edf3 }
.gpunet-network .shape, .gpunet-network .end { fill: #8b949e }
.gpunet-network rect { fill: #21262d; stroke: #6e7681 }
.gpunet-network .learns { fill: #0c2d6b; stroke: #388bfd }
.gpunet-network path { fill: #8b949e; stroke: #8b949e }
}
</style>
)";

// The boxes of a network one below the other, drawn from above.
class NetworkPicture {
 public:
  explicit NetworkPicture(const Diagram& diagram) {
    std::size_t longest = 0;
    for (const DiagramBox& box : diagram.boxes)
      for (const std::string& line : box.lines)
        longest = std::max(longest, gpunet::detail::characters(line));
    width_ = std::max(least_width, static_cast<index_t>(longest) * character + 2 * margin);
    add_text("end", "input");
    for (const DiagramBox& box : diagram.boxes) {
      add_arrow(box.from);
      add_box(box);
    }
    add_arrow(diagram.to);
    add_text("end", "output");
  }

  std::string text() const {
    const index_t width = width_ + 2 * margin, height = y_ + margin;
    return concat("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gpunet-network\" role=\"img\" width=\"", width,
                  "\" height=\"", height, "\" viewBox=\"0 0 ", width, " ", height, "\">\n", network_style, body_,
                  "</svg>\n");
  }

 private:
  // In pixels; a character of the font is 6 to 8 wide, few are more.
  static constexpr index_t margin = 12, line_height = 19, arrow = 34, least_width = 160, character = 8;

  index_t middle() const { return margin + width_ / 2; }

  void add_text(std::string_view kind, std::string_view text) {
    y_ += line_height;
    body_ += concat("<text class=\"", kind, "\" x=\"", middle(), "\" y=\"", y_ - 5, "\">",
                    gpunet::detail::xml_text(text), "</text>\n");
  }

  void add_arrow(std::string_view shape) {
    const index_t end = y_ + arrow;
    body_ +=
        concat("<path d=\"M", middle(), " ", y_ + 3, "V", end - 8, "m-4 0h8l-4 7z\"/>\n<text class=\"shape\" x=\"",
               middle() + 10, "\" y=\"", y_ + arrow / 2 + 2, "\">", gpunet::detail::xml_text(shape), "</text>\n");
    y_ = end;
  }

  void add_box(const DiagramBox& box) {
    const auto lines = static_cast<index_t>(box.lines.size());
    const index_t height = lines * line_height + margin;
    body_ += concat("<rect", box.has_parameters ? " class=\"learns\"" : "", " x=\"", margin, "\" y=\"", y_,
                    "\" width=\"", width_, "\" height=\"", height, "\" rx=\"6\"/>\n");
    const index_t end = y_ + height;
    y_ += margin / 2;
    for (const std::string& text : box.lines)
      add_text(&text == &box.lines.front() ? "title" : "option", text);
    y_ = end;
  }

  index_t width_ = 0, y_ = margin;
  std::string body_;
};

}  // namespace detail

// The network as a picture that stands alone, for a file or within a page, on a light and on a dark one. Of a Model, or of a
// network alone; shapes are those of one sample.
template <class ModelOrNet>
std::string to_svg(const ModelOrNet& net) {
  return detail::NetworkPicture(detail::Diagram(summary(net))).text();
}

}  // namespace gpunet
