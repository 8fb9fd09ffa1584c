// Copies the named arrays of a network from files and to files; match_keys.hpp says which.
#pragma once

#include <string>
#include <vector>

#include <gpunet/io/formats.hpp>
#include <gpunet/io/match_keys.hpp>

namespace gpunet::io {

// Copies tensors of `file`, selected by the options and converted to T, to the arrays: all of them,
// or none if anything does not match. Returns the keys without a counterpart.
template <class T>
IncompatibleKeys load_arrays(const std::vector<NamedArray<T>>& arrays, const TensorFile& file,
                             const LoadOptions& options = {});

// Returns the arrays as entries that borrow their elements.
template <class T>
std::vector<TensorEntry> entries_of(const std::vector<NamedArray<T>>& arrays);

// Writes the arrays to `path` in the format of its extension (formats.hpp); if that fails, the old
// file is untouched. Metadata is stored in safetensors files only.
template <class T>
void save_arrays(const std::vector<NamedArray<T>>& arrays, const std::string& path,
                 const Metadata& metadata = {});

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/state_dict.ipp>
#endif
