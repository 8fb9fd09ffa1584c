// Which tensors of a file go where.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/tensor_file.hpp>

namespace gpunet::io {

// How the tensors of a file find those of a network: by their names, or by their places, the first to the first.
enum class Matching { by_name, by_order };
// Short names for both.
inline constexpr Matching by_name = Matching::by_name;
inline constexpr Matching by_order = Matching::by_order;

// Which tensors of a file go where: io::load(net, path, {.prefix = "module."}).
struct LoadOptions {
  // The state_dict that is meant inside a checkpoint, as in torch.load(path)["model_state_dict"]; dots lead deeper.
  // Nothing else in the file counts.
  std::string key = {};
  // Taken off the names that begin with it: "module." of a network that was trained in nn.DataParallel.
  std::string prefix = {};
  // Gives the name in the network for a name in the file (without key and prefix).
  std::function<std::string(std::string_view)> rename = {};
  Matching match = Matching::by_name;
  // Whether every tensor of the file and of the network has to have its counterpart. Those that have one must fit it
  // either way, as in PyTorch. Unlike there, one at least must have its counterpart. What cannot be read (an entry with a
  // problem) counts only where the network wants it. Without it, load() returns the names of those that have none.
  bool strict = true;
  // Whether the file is mapped, see ReadOptions: for one that is larger than memory.
  bool map = false;
  // The most bytes of a packed array, see ReadOptions.
  std::size_t max_unpacked_bytes = ReadOptions{}.max_unpacked_bytes;
};

// The keys that a file and a network do not share, as load_state_dict() of PyTorch returns them. Arrays of missing keys keep
// the values that they had.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys;     // of the network, in its order
  std::vector<std::string> unexpected_keys;  // of the file, sorted
};

namespace detail {

// An entry of a file under the name by which the network may know it.
struct NamedEntry {
  std::string name;
  const TensorEntry* entry = nullptr;
};

inline std::string shown(std::string_view name) {
  return name.empty() ? "(an array without a name)" : printable(name);
}

// The part of a name before its first dot.
inline std::string_view first_key(std::string_view name) {
  return name.substr(0, name.find('.'));
}

// The entries that the options mean, in the order of the file.
inline std::vector<NamedEntry> select_entries(const TensorFile& file, const LoadOptions& options) {
  std::vector<NamedEntry> out;
  const std::string below = options.key.empty() ? "" : options.key + ".";
  for (const TensorEntry& entry : file.entries()) {
    std::string_view name = entry.name;
    if (!name.starts_with(below)) continue;
    name.remove_prefix(below.size());
    if (name.starts_with(options.prefix)) name.remove_prefix(options.prefix.size());
    out.push_back({options.rename ? options.rename(name) : std::string(name), &entry});
  }
  if (!out.empty() || below.empty()) return out;

  std::set<std::string_view> keys;
  for (const TensorEntry& entry : file.entries()) {
    require(entry.name != options.key || entry.problem.empty(), "gpunet::io::load: the key \"",
            printable(options.key), "\" could not be read: ", entry.problem);
    keys.insert(first_key(entry.name));
  }
  throw Error(concat("gpunet::io::load: ", file.path(), " has no tensors under the key \"", printable(options.key),
                     "\" (there are: ", gpunet::detail::short_list(keys, shown), "), give one of these"));
}

}  // namespace detail

}  // namespace gpunet::io
