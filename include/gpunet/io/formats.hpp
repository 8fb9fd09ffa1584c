// Reads and writes files of named arrays, in the format given by their contents or name.
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

// The formats that can be written.
enum class Format { safetensors, torch, npy, npz };

// Returns the format by the extension of the name, in either case: .safetensors, .pth, .pt, .npy,
// .npz; nothing for all others.
std::optional<Format> format_of(std::string_view path);

// Returns the format of a file to be written. Throws Error for an unknown extension.
Format written_format(const std::string& path);

// Reads the file at `path` in the format of its contents, or of its name if they show none. Throws
// Error.
TensorFile read_tensors(const std::string& path, const ReadOptions& options = {});

// Opens the file for a caller that copies each array once with copy_as(): arrays of a safetensors
// file stay in the file until then.
TensorFile open_tensors(const std::string& path, const ReadOptions& options = {});

// Writes the arrays to `path` in the format of its extension, as AtomicFile. Throws Error, also for
// an unknown extension and for metadata that the format cannot store.
void write_tensors(const std::string& path, std::span<const TensorEntry> entries,
                   const Metadata& metadata = {});

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/formats.ipp>
#endif
