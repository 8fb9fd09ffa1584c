// Networks as diagrams: layers are boxes, and what goes from one to the next is written at the arrow.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/text.hpp>
#include <gpunet/model/summary.hpp>

namespace gpunet {

namespace detail {

// Appends the text to lines, broken behind commas where it is longer than 48 characters.
inline void append_wrapped(std::vector<std::string>& lines, std::string_view text) {
  constexpr std::size_t longest = 48;
  while (text.size() > longest) {
    const std::size_t comma = text.substr(0, longest).rfind(", ");
    if (comma == std::string_view::npos) break;
    lines.emplace_back(text.substr(0, comma + 1));
    text.remove_prefix(comma + 2);
  }
  if (!text.empty()) lines.emplace_back(text);
}

// What is written in a box: name and type, options, number of parameters.
struct DiagramBox {
  std::vector<std::string> lines;
  std::string from;  // the shape of one sample that comes in
  bool has_parameters;
};

struct Diagram {
  std::vector<DiagramBox> boxes;
  std::string to;  // the shape of one sample that comes out

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

// The lines, escaped, with `line_break` between them.
template <class Escape>
std::string joined(const std::vector<std::string>& lines, std::string_view line_break, Escape escape) {
  std::string out;
  for (const std::string& line : lines)
    out += concat(out.empty() ? "" : line_break, escape(line));
  return out;
}

// Within quotes of the DOT language, where a backslash and an ampersand begin something, too.
inline std::string dot_text(std::string_view text) {
  return gpunet::detail::escaped(text, {{'"', "\\\""}, {'\\', "\\\\"}, {'&', "&amp;"}, {'\n', "\\n"}});
}

// Within quotes of Mermaid, whose labels are Markdown and HTML, and in whose text %% begins a directive.
inline std::string mermaid_text(std::string_view text) {
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

inline std::string dot_of(const Diagram& diagram) {
  std::string out =
      "digraph network {\n"
      "  node [shape=box, style=rounded, fontname=\"Helvetica\"];\n"
      "  edge [fontname=\"Helvetica\", fontsize=11];\n"
      "  input [shape=plaintext];\n";
  std::string last = "input";
  for (std::size_t i = 0; i < diagram.boxes.size(); ++i) {
    const std::string node = concat("layer", i);
    out += concat("  ", node, " [label=\"", joined(diagram.boxes[i].lines, "\\n", dot_text), "\"];\n");
    out += concat("  ", last, " -> ", node, " [label=\" ", diagram.boxes[i].from, "\"];\n");
    last = node;
  }
  return out + concat("  output [shape=plaintext];\n  ", last, " -> output [label=\" ", diagram.to, "\"];\n}\n");
}

inline std::string mermaid_of(const Diagram& diagram) {
  std::string out = "flowchart TD\n  input([\"input\"])\n";
  std::string last = "input";
  for (std::size_t i = 0; i < diagram.boxes.size(); ++i) {
    const std::string node = concat("layer", i);
    out += concat("  ", node, "[\"", joined(diagram.boxes[i].lines, "<br/>", mermaid_text), "\"]\n");
    out += concat("  ", last, " -->|\"", diagram.boxes[i].from, "\"| ", node, "\n");
    last = node;
  }
  return out + concat("  output([\"output\"])\n  ", last, " -->|\"", diagram.to, "\"| output\n");
}

}  // namespace detail

// The network in Graphviz's language: dot -Tpng net.dot -o net.png. Of a Model, or of a network alone; shapes are those of
// one sample.
template <class ModelOrNet>
std::string to_dot(const ModelOrNet& net) {
  return detail::dot_of(detail::Diagram(summary(net)));
}

// The network as a flowchart of Mermaid, as pages on GitHub show in a block ```mermaid.
template <class ModelOrNet>
std::string to_mermaid(const ModelOrNet& net) {
  return detail::mermaid_of(detail::Diagram(summary(net)));
}

}  // namespace gpunet
