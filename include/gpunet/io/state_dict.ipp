// Bodies of state_dict.hpp.
#pragma once

#include <span>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/io/dtype.hpp>
#include <gpunet/io/state_dict.hpp>

namespace gpunet::io {

namespace detail {

// Returns the value of a counter. Throws Error if it is not a valid count.
GPUNET_INLINE index_t count_of(const TensorEntry& entry, const std::string& path) {
  double count = -1;
  copy_as(entry, std::span(&count, 1));
  require(0 <= count && count < 0x1p63, "gpunet::io::load: ", path, ": \"", printable(entry.name),
          "\" is ", count, " (want a count, 0 or more), save it again");
  return static_cast<index_t>(count);
}

}  // namespace detail

template <class T>
IncompatibleKeys load_arrays(const std::vector<NamedArray<T>>& arrays, const TensorFile& file,
                             const LoadOptions& options) {
  Match matches = match(arrays, file, options);
  const std::vector<const TensorEntry*>& matched = matches.entries;
  std::vector<index_t> counts;  // read before anything is changed: one may be invalid
  for (std::size_t i = 0; i < arrays.size(); ++i)
    counts.push_back(arrays[i].count && matched[i] ? detail::count_of(*matched[i], file.path())
                                                   : 0);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!matched[i]) continue;
    if (arrays[i].count)
      *arrays[i].count = counts[i];
    else
      copy_as(*matched[i],
              std::span<T>(arrays[i].data, static_cast<std::size_t>(arrays[i].sizes.numel())));
  }
  return std::move(matches.keys);
}

template <class T>
std::vector<TensorEntry> entries_of(const std::vector<NamedArray<T>>& arrays) {
  std::vector<TensorEntry> entries;
  for (const NamedArray<T>& array : arrays) {
    const auto size = static_cast<std::size_t>(array.sizes.numel());
    if (array.count)
      entries.push_back(
          {array.name, Dtype::I64, array.sizes, std::as_bytes(std::span(array.count, size))});
    else
      entries.push_back({array.name, dtype_of<std::remove_const_t<T>>(), array.sizes,
                         std::as_bytes(std::span<const T>(array.data, size))});
  }
  return entries;
}

template <class T>
void save_arrays(const std::vector<NamedArray<T>>& arrays, const std::string& path,
                 const Metadata& metadata) {
  write_tensors(path, entries_of(arrays), metadata);
}

#if GPUNET_COMPILED
template IncompatibleKeys load_arrays(const std::vector<NamedArray<float>>& arrays,
                                      const TensorFile& file, const LoadOptions& options);
template IncompatibleKeys load_arrays(const std::vector<NamedArray<double>>& arrays,
                                      const TensorFile& file, const LoadOptions& options);
template std::vector<TensorEntry> entries_of(const std::vector<NamedArray<float>>& arrays);
template std::vector<TensorEntry> entries_of(const std::vector<NamedArray<double>>& arrays);
template void save_arrays(const std::vector<NamedArray<float>>& arrays, const std::string& path,
                          const Metadata& metadata);
template void save_arrays(const std::vector<NamedArray<double>>& arrays, const std::string& path,
                          const Metadata& metadata);
template void save_arrays(const std::vector<NamedArray<const float>>& arrays,
                          const std::string& path, const Metadata& metadata);
template void save_arrays(const std::vector<NamedArray<const double>>& arrays,
                          const std::string& path, const Metadata& metadata);
#endif

}  // namespace gpunet::io
