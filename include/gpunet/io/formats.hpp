// Files of named arrays in the format that their content or their name tells.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <gpunet/core/config.hpp>
#include <gpunet/io/npy.hpp>
#include <gpunet/io/npz.hpp>
#include <gpunet/io/safetensors.hpp>
#include <gpunet/io/tensor_file.hpp>
#include <gpunet/io/torch_file.hpp>

namespace gpunet::io {

// The kinds of files that are written.
enum class Format { safetensors, torch, npy, npz };

// By the ending of the name, in large letters or small ones: .safetensors, .pth, .pt, .npy, .npz; none for all others.
std::optional<Format> format_of(std::string_view path);

// The same for a file to be written. Throws Error for all others.
Format written_format(const std::string& path);

// Reads the file at `path` in the format that its contents tell, whatever its name; where they tell nothing, in the one
// of its name. Throws Error.
TensorFile read_tensors(const std::string& path, const ReadOptions& options = {});

// The same for callers that copy each array once with copy_as(): the arrays of a safetensors file stay in it until then.
TensorFile open_tensors(const std::string& path, const ReadOptions& options = {});

// Writes the arrays to `path` in the format that the ending of its name tells, as AtomicFile does. Throws Error; also for
// another ending, and for metadata where the format has no place for it.
void write_tensors(const std::string& path, std::span<const TensorEntry> entries, const Metadata& metadata = {});

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/formats.ipp>
#endif
