// Bodies of diagram.hpp.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <gpunet/core/text.hpp>
#include <gpunet/extras/diagram.hpp>

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
  std::string to;  // the shape of one output sample
  bool has_parameters;
  std::vector<int> inputs;  // the boxes before it, -1: the input of the network
};

struct Diagram {
  std::vector<DiagramBox> boxes;
  std::string from;  // the shape of one input sample

  int last() const { return static_cast<int>(boxes.size()) - 1; }
  // Returns the shape that leaves a box.
  const std::string& shape(int box) const {
    return box < 0 ? from : boxes[static_cast<std::size_t>(box)].to;
  }

  explicit Diagram(const Summary& summary) : from(to_string(summary.input_size.tail())) {
    for (const LayerSummary& layer : summary.layers) {
      const bool has_name = !nn::detail::is_position(layer.var_name, boxes.size());
      DiagramBox box{{has_name ? concat(layer.var_name, ": ", layer.class_name) : layer.class_name},
                     to_string(layer.output_size.tail()),
                     layer.num_params > 0,
                     layer.inputs};
      append_wrapped(box.lines, layer.extra_repr);
      if (box.has_parameters)
        box.lines.push_back(concat(with_commas(layer.num_params),
                                   layer.num_params == 1 ? " parameter" : " parameters"));
      boxes.push_back(std::move(box));
    }
  }
};

// Returns the name of a box in a language for diagrams.
GPUNET_INLINE std::string node_name(int box) {
  return box < 0 ? "input" : concat("layer", box);
}

// Returns the lines, escaped, with `line_break` between them.
template <class Escape>
std::string joined(const std::vector<std::string>& lines, std::string_view line_break,
                   Escape escape) {
  std::string out;
  for (const std::string& line : lines)
    out += concat(out.empty() ? "" : line_break, escape(line));
  return out;
}

// Escapes text within quotes of the DOT language, where backslash and ampersand are special, too.
GPUNET_INLINE std::string dot_text(std::string_view text) {
  return gpunet::detail::escaped(text,
                                 {{'"', "\\\""}, {'\\', "\\\\"}, {'&', "&amp;"}, {'\n', "\\n"}});
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

// Colors for a light page and, by the system's color scheme, a dark one. Those of arrows and shapes
// are readable on both, for pages that are dark regardless of the system.
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

// An SVG of a diagram: boxes one below the other. Arrows from any but the one above run on their
// right, in lanes.
class NetworkSvg {
 public:
  explicit NetworkSvg(const Diagram& diagram) {
    std::size_t longest = 0;
    for (const DiagramBox& box : diagram.boxes)
      for (const std::string& line : box.lines)
        longest = std::max(longest, gpunet::detail::characters(line));
    width_ = std::max(least_width, static_cast<index_t>(longest) * character + 2 * margin);
    add_text("end", "input");
    ends_.push_back(y_ - line_height / 2);
    for (int i = 0; i <= diagram.last(); ++i) {
      const DiagramBox& box = diagram.boxes[static_cast<std::size_t>(i)];
      const bool follows = std::count(box.inputs.begin(), box.inputs.end(), i - 1) > 0;
      add_arrow(follows ? diagram.shape(i - 1) : "", follows);
      index_t at = y_ + margin;
      for (const int input : box.inputs)
        if (input != i - 1) add_side_arrow(input, i, std::exchange(at, at + margin));
      add_box(box);
      ends_.push_back(y_ - margin);
    }
    add_arrow(diagram.shape(diagram.last()), true);
    add_text("end", "output");
  }

  std::string text() const {
    const auto lanes = static_cast<index_t>(lanes_.size());
    const index_t width = width_ + (2 + lanes) * margin, height = y_ + margin;
    return concat(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gpunet-network\" role=\"img\" width=\"",
        width, "\" height=\"", height, "\" viewBox=\"0 0 ", width, " ", height, "\">\n",
        network_style, body_, "</svg>\n");
  }

 private:
  // In pixels; most characters of the font are 6 to 8 wide.
  static constexpr index_t margin = 12, line_height = 19, arrow = 34, least_width = 160,
                           character = 8;

  index_t middle() const { return margin + width_ / 2; }

  void add_text(std::string_view kind, std::string_view text) {
    y_ += line_height;
    body_ += concat("<text class=\"", kind, "\" x=\"", middle(), "\" y=\"", y_ - 5, "\">",
                    gpunet::detail::xml_text(text), "</text>\n");
  }

  // An arrow from the box above, or the room for it.
  void add_arrow(std::string_view shape, bool follows) {
    const index_t end = y_ + arrow;
    if (!follows) {
      y_ = end;
      return;
    }
    body_ += concat("<path d=\"M", middle(), " ", y_ + 3, "V", end - 8,
                    "m-4 0h8l-4 7z\"/>\n<text class=\"shape\" x=\"", middle() + 10, "\" y=\"",
                    y_ + arrow / 2 + 2, "\">", gpunet::detail::xml_text(shape), "</text>\n");
    y_ = end;
  }

  // An arrow from box `from` to box `to`, at height y, in the first lane that is free between them.
  void add_side_arrow(int from, int to, index_t y) {
    const auto is_free = [&](const Lane& lane) {
      return std::none_of(lane.begin(), lane.end(), [&](const auto& other) {
        return other.first < to && from < other.second;
      });
    };
    auto lane = std::find_if(lanes_.begin(), lanes_.end(), is_free);
    if (lane == lanes_.end()) lane = lanes_.insert(lane, Lane());
    lane->push_back({from, to});
    const index_t right = margin + width_, x = right + (lane - lanes_.begin() + 1) * margin;
    body_ += concat("<path style=\"fill:none\" d=\"M", from < 0 ? middle() + 2 * margin : right,
                    " ", ends_[static_cast<std::size_t>(from + 1)], "H", x, "V", y, "H", right + 7,
                    "\"/>\n<path d=\"M", right + 7, " ", y - 4, "v8l-7-4z\"/>\n");
  }

  void add_box(const DiagramBox& box) {
    const auto lines = static_cast<index_t>(box.lines.size());
    const index_t height = lines * line_height + margin;
    body_ +=
        concat("<rect", box.has_parameters ? " class=\"learns\"" : "", " x=\"", margin, "\" y=\"",
               y_, "\" width=\"", width_, "\" height=\"", height, "\" rx=\"6\"/>\n");
    const index_t end = y_ + height;
    y_ += margin / 2;
    for (const std::string& text : box.lines)
      add_text(&text == &box.lines.front() ? "title" : "option", text);
    y_ = end;
  }

  using Lane = std::vector<std::pair<int, int>>;  // the boxes at the ends of its arrows

  index_t width_ = 0, y_ = margin;
  std::vector<index_t> ends_;  // the heights at which arrows leave the input and the boxes
  std::vector<Lane> lanes_;
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
  const auto arrow = [&diagram](int from, std::string_view to) {
    return concat("  ", detail::node_name(from), " -> ", to, " [label=\" ", diagram.shape(from),
                  "\"];\n");
  };
  for (int i = 0; i <= diagram.last(); ++i) {
    const detail::DiagramBox& box = diagram.boxes[static_cast<std::size_t>(i)];
    const std::string node = detail::node_name(i);
    out += concat("  ", node, " [label=\"", detail::joined(box.lines, "\\n", detail::dot_text),
                  "\"];\n");
    for (const int input : box.inputs)
      out += arrow(input, node);
  }
  return out + concat("  output [shape=plaintext];\n", arrow(diagram.last(), "output"), "}\n");
}

GPUNET_INLINE std::string to_mermaid(const Summary& summary) {
  const detail::Diagram diagram(summary);
  std::string out = "flowchart TD\n  input([\"input\"])\n";
  const auto arrow = [&diagram](int from, std::string_view to) {
    return concat("  ", detail::node_name(from), " -->|\"", diagram.shape(from), "\"| ", to, "\n");
  };
  for (int i = 0; i <= diagram.last(); ++i) {
    const detail::DiagramBox& box = diagram.boxes[static_cast<std::size_t>(i)];
    const std::string node = detail::node_name(i);
    out += concat("  ", node, "[\"", detail::joined(box.lines, "<br/>", detail::mermaid_text),
                  "\"]\n");
    for (const int input : box.inputs)
      out += arrow(input, node);
  }
  return out + concat("  output([\"output\"])\n", arrow(diagram.last(), "output"));
}

GPUNET_INLINE std::string to_svg(const Summary& summary) {
  return detail::NetworkSvg(detail::Diagram(summary)).text();
}

}  // namespace gpunet
