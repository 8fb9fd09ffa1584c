// Bodies of parameters.hpp.
#pragma once

#include <algorithm>

#include <gpunet/core/error.hpp>
#include <gpunet/model/parameters.hpp>

namespace gpunet {

namespace detail {

GPUNET_INLINE std::vector<int> indices_of(const Graph& graph,
                                          bool (*is_wanted)(const void* f, const ParameterInfo&),
                                          const void* f) {
  std::vector<int> indices;
  for (std::size_t i = 0; i < graph.parameters.size(); ++i)
    if (is_wanted(f, graph.parameters[i])) indices.push_back(static_cast<int>(i));
  require(!indices.empty(), "gpunet::Model::parameters: the function is true for none of the ",
          graph.parameters.size(),
          " parameters (nothing would change), look at their names and sizes in "
          "net.named_parameters()");
  return indices;
}

GPUNET_INLINE std::vector<int> indices_of(const Graph& graph, std::string_view pattern) {
  constexpr std::size_t most_names = 8;
  std::vector<int> indices;
  std::string names;
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const std::string& name = graph.parameters[i].name;
    if (names_parameter(pattern, name)) indices.push_back(static_cast<int>(i));
    if (i < most_names) names += (i > 0 ? " " : "") + name;
  }
  if (graph.parameters.size() > most_names)
    names += concat(" and ", graph.parameters.size() - most_names, " more");
  require(!indices.empty(), "gpunet::Model::parameters: no parameter is called \"", pattern,
          "\" (it has ", names.empty() ? "none" : names,
          "), give a name, a part as \"features.0\", or a pattern as \"*.bias\"");
  return indices;
}

}  // namespace detail

}  // namespace gpunet
