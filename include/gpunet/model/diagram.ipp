// Bodies of diagram.hpp.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <gpunet/core/text.hpp>
#include <gpunet/model/diagram.hpp>

namespace gpunet {

namespace detail {

// Appends the text to lines, broken after commas where it is longer than 48 characters.
GPUNET_INLINE void append_wrapped(std::vector<std::string>& lines, std::string_view text) {
  constexpr std::size_t longest = 48;
  while (text.size() > longest) {
    const std::size_t comma = text.substr(0, longest).rfind(", ");
    if (comma == std::string_view::npos) break;
    lines.emplace_back(text.substr(0, comma + 1));
    text.remove_prefix(comma + 2);
  }
  if (!text.empty()) lines.emplace_back(text);
}

// A layer as a box with lines of text: name and type, options, number of parameters.
struct DiagramBox {
  std::vector<std::string> lines;
  std::string from;  // the shape of one input sample
  bool has_parameters;
};

struct Diagram {
  std::vector<DiagramBox> boxes;
  std::string to;  // the shape of one output sample

  explicit Diagram(const Summary& summary) : to(to_string(summary.output_size.tail())) {
    for (const LayerSummary& layer : summary.layers) {
      const bool has_name = !nn::detail::is_position(layer.var_name, boxes.size());
      DiagramBox box{{has_name ? concat(layer.var_name, ": ", layer.class_name) : layer.class_name},
                     to_string(layer.input_size.tail()),
                     layer.num_params > 0};
      append_wrapped(box.lines, layer.extra_repr);
      if (box.has_parameters)
        box.lines.push_back(
            concat(with_commas(layer.num_params), layer.num_params == 1 ? " parameter" : " parameters"));
      boxes.push_back(std::move(box));
    }
  }
};

// Returns the lines, escaped, with `line_break` between them.
template <class Escape>
std::string joined(const std::vector<std::string>& lines, std::string_view line_break, Escape escape) {
  std::string out;
  for (const std::string& line : lines)
    out += concat(out.empty() ? "" : line_break, escape(line));
  return out;
}

// Escapes text within quotes of the DOT language, where backslash and ampersand are special, too.
GPUNET_INLINE std::string dot_text(std::string_view text) {
  return gpunet::detail::escaped(text, {{'"', "\\\""}, {'\\', "\\\\"}, {'&', "&amp;"}, {'\n', "\\n"}});
}

// Escapes text within quotes of Mermaid, whose labels are Markdown and HTML; %% begins a directive.
GPUNET_INLINE std::string mermaid_text(std::string_view text) {
  return gpunet::detail::escaped(text, {{'"', "#quot;"},
                                        {'#', "#35;"},
                                        {'&', "#amp;"},
                                        {'<', "#lt;"},
                                        {'>', "#gt;"},
                                        {'`', "#96;"},
                                        {'*', "#42;"},
                                        {'%', "#37;"},
                                        {'\\', "#92;"},
                                        {'\n', "<br/>"}});
}

// Colors for a light page and, by the system's color scheme, a dark one. Those of arrows and shapes are readable on both,
// for pages that are dark regardless of the system.
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

// An SVG of a diagram: boxes one below the other.
class NetworkSvg {
 public:
  explicit NetworkSvg(const Diagram& diagram) {
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
  // In pixels; most characters of the font are 6 to 8 wide.
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

GPUNET_INLINE std::string to_dot(const Summary& summary) {
  const detail::Diagram diagram(summary);
  std::string out =
      "digraph network {\n"
      "  node [shape=box, style=rounded, fontname=\"Helvetica\"];\n"
      "  edge [fontname=\"Helvetica\", fontsize=11];\n"
      "  input [shape=plaintext];\n";
  std::string last = "input";
  for (std::size_t i = 0; i < diagram.boxes.size(); ++i) {
    const std::string node = concat("layer", i);
    out +=
        concat("  ", node, " [label=\"", detail::joined(diagram.boxes[i].lines, "\\n", detail::dot_text), "\"];\n");
    out += concat("  ", last, " -> ", node, " [label=\" ", diagram.boxes[i].from, "\"];\n");
    last = node;
  }
  return out + concat("  output [shape=plaintext];\n  ", last, " -> output [label=\" ", diagram.to, "\"];\n}\n");
}

GPUNET_INLINE std::string to_mermaid(const Summary& summary) {
  const detail::Diagram diagram(summary);
  std::string out = "flowchart TD\n  input([\"input\"])\n";
  std::string last = "input";
  for (std::size_t i = 0; i < diagram.boxes.size(); ++i) {
    const std::string node = concat("layer", i);
    out +=
        concat("  ", node, "[\"", detail::joined(diagram.boxes[i].lines, "<br/>", detail::mermaid_text), "\"]\n");
    out += concat("  ", last, " -->|\"", diagram.boxes[i].from, "\"| ", node, "\n");
    last = node;
  }
  return out + concat("  output([\"output\"])\n  ", last, " -->|\"", diagram.to, "\"| output\n");
}

GPUNET_INLINE std::string to_svg(const Summary& summary) {
  return detail::NetworkSvg(detail::Diagram(summary)).text();
}

}  // namespace gpunet
