// Bodies of files.hpp.
#pragma once

#include <gpunet/core/text.hpp>
#include <gpunet/tensor/files.hpp>

namespace gpunet::io::detail {

GPUNET_INLINE const TensorEntry& find_entry(const TensorFile& file, std::string_view name) {
  const auto& entries = file.entries();
  const auto names = [&] {
    return gpunet::detail::short_list(entries, [](const TensorEntry& entry) { return entry.name; });
  };
  if (name.empty()) {
    if (entries.size() != 1)
      throw_error(
          Error(concat("gpunet::io::read_tensor: ", file.path(), " has ", entries.size(),
                       " arrays (want 1 where no name is given), name one of them: ", names())));
    return entries[0];
  }
  for (const TensorEntry& entry : entries)
    if (entry.name == name) return entry;
  throw_error(Error(concat("gpunet::io::read_tensor: ", file.path(), " has no array '", name,
                           "', name one of them: ", names())));
}

}  // namespace gpunet::io::detail
