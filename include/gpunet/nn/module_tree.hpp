// The tree of blocks and layers that dotted names tell of.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gpunet::nn::detail {

// A layer or a block as it stands in the tree that dotted names tell of.
struct Module {
  std::string name;         // the last part of the path
  std::size_t depth;        // 0 in the network itself
  std::size_t first, last;  // of its layers, indices into the list
  bool is_block;
};

// The tree, in the order in which it is printed, of the paths of all layers.
inline std::vector<Module> modules_of(const std::vector<std::string>& paths) {
  std::vector<Module> modules;
  std::vector<std::size_t> open;  // the blocks around the layer
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::size_t begin = 0, depth = 0;
    for (std::size_t dot; (dot = paths[i].find('.', begin)) != std::string::npos; begin = dot + 1, ++depth) {
      const std::string name = paths[i].substr(begin, dot - begin);
      if (depth < open.size() && modules[open[depth]].name == name) {
        modules[open[depth]].last = i;
        continue;
      }
      open.resize(depth);
      open.push_back(modules.size());
      modules.push_back({name, depth, i, i, true});
    }
    open.resize(depth);
    modules.push_back({paths[i].substr(begin), depth, i, i, false});
  }
  return modules;
}

}  // namespace gpunet::nn::detail
