// Bodies of to_string.hpp.
#pragma once

#include <gpunet/graph/to_string.hpp>

namespace gpunet {

namespace detail {

GPUNET_INLINE std::vector<Module> modules_of(const std::vector<std::string>& paths,
                                             const std::vector<BlockInfo>& blocks) {
  const auto type_of = [&blocks](std::string_view path) -> std::string {
    for (const BlockInfo& block : blocks)
      if (block.name == path) return class_of(block.layer);
    return "Sequential";
  };
  std::vector<Module> modules;
  std::vector<std::size_t> open;  // the blocks that contain the layer
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::size_t begin = 0, depth = 0;
    for (std::size_t dot; (dot = paths[i].find('.', begin)) != std::string::npos;
         begin = dot + 1, ++depth) {
      const std::string name = paths[i].substr(begin, dot - begin);
      if (depth < open.size() && modules[open[depth]].name == name) {
        modules[open[depth]].last = i;
        continue;
      }
      open.resize(depth);
      open.push_back(modules.size());
      modules.push_back({name, depth, i, i, type_of(std::string_view(paths[i]).substr(0, dot))});
    }
    open.resize(depth);
    modules.push_back({paths[i].substr(begin), depth, i, i});
  }
  return modules;
}

}  // namespace detail

GPUNET_INLINE std::string to_string(const Graph& graph) {
  std::vector<std::string> paths, texts;
  for (const Node& node : graph.nodes) {
    if (node.is_packing || node.is_padding) continue;
    const void* op = node.op.data();
    paths.push_back(node.name);
    texts.push_back(concat(detail::class_of(node.layer), "(",
                           node.type->extra_repr(op, graph.input_of(node), graph.output_of(node)),
                           ")"));
    for (const char* layer : node.fused)
      texts.back() += concat(" -> ", detail::class_of(layer));
  }
  std::string out = "Sequential(\n";
  std::size_t depth = 0;  // number of open blocks
  const auto close_to = [&](std::size_t wanted) {
    for (; depth > wanted; --depth)
      out += std::string(2 * depth, ' ') + ")\n";
  };
  for (const detail::Module& entry : detail::modules_of(paths, graph.blocks)) {
    close_to(entry.depth);
    out += concat(std::string(2 * entry.depth + 2, ' '), "(", entry.name,
                  "): ", entry.block.empty() ? texts[entry.first] : entry.block + "(", "\n");
    depth += !entry.block.empty();
  }
  close_to(0);
  return out + ")";
}

}  // namespace gpunet
