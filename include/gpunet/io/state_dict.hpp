// The named arrays of a network, and the files that fit them.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/sizes.hpp>
#include <gpunet/io/safetensors.hpp>

namespace gpunet::io {

// A parameter of a network as a file sees it: its key in the state_dict, its shape, and where its sizes.numel()
// elements are in host memory, row-major. T is float or double, const where it is only read.
template <class T>
struct NamedArray {
  std::string name = {};
  Sizes sizes = {};
  T* data = nullptr;
};

namespace detail {

// The entry of that name, null if there is none. `entries` are in the order of their names.
inline const TensorEntry* find(const std::vector<const TensorEntry*>& entries, const std::string& name) {
  const auto at =
      std::lower_bound(entries.begin(), entries.end(), name,
                       [](const TensorEntry* entry, const std::string& key) { return entry->name < key; });
  return at != entries.end() && (*at)->name == name ? *at : nullptr;
}

}  // namespace detail

// The entry of `file` for each array, in the arrays' order. Throws one Error that lists everything which does not
// fit: keys that are missing, unexpected, of another shape, or not of floating-point type. Reads no data of either.
template <class T>
std::vector<const TensorEntry*> match(const std::vector<NamedArray<T>>& arrays, const TensorFile& file) {
  const std::vector<const TensorEntry*> entries = detail::sorted(file.entries(), detail::by_name);
  std::vector<bool> expected(entries.size());  // of the file's entries, those that an array wants
  std::vector<const TensorEntry*> matched;
  std::string missing_keys, unexpected_keys, mismatches;
  const auto list = [](std::string& keys, std::string_view key) {
    keys += concat(keys.empty() ? "" : ", ", detail::printable(key));
  };
  const auto position = [&](const TensorEntry& entry) {
    return static_cast<std::size_t>(&entry - file.entries().data());
  };
  for (const NamedArray<T>& array : arrays) {
    const TensorEntry* entry = detail::find(entries, array.name);
    if (!entry || expected[position(*entry)]) {
      list(missing_keys, array.name);
      continue;
    }
    if (entry->sizes != array.sizes)
      mismatches += concat("\n  size mismatch for ", array.name, ": ", to_string(entry->sizes), " in the file, ",
                           to_string(array.sizes), " in the network");
    if (!is_parameter_type(entry->dtype))
      mismatches += concat("\n  type mismatch for ", array.name, ": ", to_string(entry->dtype),
                           " in the file, F64, F32, F16 or BF16 wanted");
    matched.push_back(entry);
    expected[position(*entry)] = true;
  }
  for (const TensorEntry& entry : file.entries())
    if (!expected[position(entry)]) list(unexpected_keys, entry.name);

  if (!missing_keys.empty()) missing_keys.insert(0, "\n  missing keys: ");
  if (!unexpected_keys.empty()) unexpected_keys.insert(0, "\n  unexpected keys: ");
  require(missing_keys.empty() && unexpected_keys.empty() && mismatches.empty(), "gpunet::io::load: ", file.path(),
          " does not fit this network (nothing was loaded):", missing_keys, unexpected_keys, mismatches,
          "\nload a file that was saved from this network, or build the network that the file was saved from");
  return matched;
}

// Fills the arrays with the tensors of `file`, converted to T; all of them, or none if anything does not fit.
template <class T>
void load_arrays(const std::vector<NamedArray<T>>& arrays, const TensorFile& file) {
  const std::vector<const TensorEntry*> matched = match(arrays, file);
  for (std::size_t i = 0; i < arrays.size(); ++i)
    copy_as(*matched[i], std::span<T>(arrays[i].data, static_cast<std::size_t>(arrays[i].sizes.numel())));
}

// Writes the arrays to `path`, which keeps its old contents if that fails.
template <class T>
void save_arrays(const std::vector<NamedArray<T>>& arrays, const std::string& path, const Metadata& metadata = {}) {
  std::vector<TensorEntry> entries;
  for (const NamedArray<T>& array : arrays) {
    const std::span<const T> elements(array.data, static_cast<std::size_t>(array.sizes.numel()));
    entries.push_back({array.name, dtype_of<std::remove_const_t<T>>(), array.sizes, std::as_bytes(elements)});
  }
  write_safetensors(path, entries, metadata);
}

}  // namespace gpunet::io
