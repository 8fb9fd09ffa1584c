// Bodies of hooks.hpp.
#pragma once

#include <string>

#include <gpunet/core/error.hpp>
#include <gpunet/model/hooks.hpp>

namespace gpunet::detail {

GPUNET_INLINE value_t output_of_layer(const Graph& graph, std::string_view name) {
  constexpr std::size_t most_names = 8;
  value_t output = -1;
  int same_names = 0;
  std::string names;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const std::string_view of = node.name;
    same_names += of == name;
    if (!name.empty() && of.starts_with(name) &&
        (of.size() == name.size() || of[name.size()] == '.'))
      output = node.output;
    if (i < most_names) names += (i > 0 ? " " : "") + node.name;
  }
  if (graph.nodes.size() > most_names)
    names += concat(" and ", graph.nodes.size() - most_names, " more");
  require(output >= 0, "gpunet::Model: no layer is called \"", name, "\" (it has ", names,
          "), give a name that std::cout << net prints");
  require(same_names <= 1, "gpunet::Model: ", same_names, " layers are called \"", name,
          "\" (a hook is for one), give the one that is meant a name: nn::named(\"a\", f, x)");
  require(Plan(graph, false, InputGradient::skip).value_of[static_cast<std::size_t>(output)] >= 0,
          "gpunet::Model: the output does not depend on layer \"", name,
          "\" (it is not computed), hook another one");
  return output;
}

}  // namespace gpunet::detail
