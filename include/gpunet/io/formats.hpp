// Files of named arrays in the format that their content or their name tells.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/io/byte_reader.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/npy.hpp>
#include <gpunet/io/npz.hpp>
#include <gpunet/io/safetensors.hpp>
#include <gpunet/io/tensor_file.hpp>
#include <gpunet/io/torch_file.hpp>
#include <gpunet/io/torch_writer.hpp>

namespace gpunet::io {

enum class Format { safetensors, torch, npy, npz };

// By the ending of the name: .pth, .pt, .npy, .npz; safetensors for all others.
inline Format format_of(std::string_view path) {
  if (path.ends_with(".pth") || path.ends_with(".pt")) return Format::torch;
  if (path.ends_with(".npy")) return Format::npy;
  if (path.ends_with(".npz")) return Format::npz;
  return Format::safetensors;
}

// Reads the file at `path` in the format that its first bytes tell, else its name. Throws Error.
inline TensorFile read_tensors(const std::string& path) {
  InputFile input(path);
  std::array<std::byte, 9> first{};
  const auto begin = std::span(first).first(std::min(first.size(), input.size()));
  input.read(begin);
  Format format = format_of(path);
  const std::string_view text = detail::as_text(begin);
  // Safetensors first: the length of its header, below 2^32 in 8 bytes, may begin like anything else.
  if (text.ends_with(std::string_view("\0\0\0\0{", 5)))
    format = Format::safetensors;
  else if (text.starts_with("PK"))
    format = format == Format::npz ? Format::npz : Format::torch;
  else if (text.starts_with(detail::npy_magic))
    format = Format::npy;
  else if (text.starts_with(detail::torch_magic.substr(0, 3)))
    format = Format::torch;
  switch (format) {
    case Format::torch:
      return TorchFile::read(path);
    case Format::npy:
      return NpyFile::read(path);
    case Format::npz:
      return NpzFile::read(path);
    case Format::safetensors:
      break;
  }
  return SafetensorsFile::read(path);
}

// Writes the arrays to `path` in the format that its name tells, as AtomicFile does. Throws Error; also for metadata
// where the format has no place for it.
inline void write_tensors(const std::string& path, std::span<const TensorEntry> entries,
                          const Metadata& metadata = {}) {
  require(metadata.empty() || format_of(path) == Format::safetensors, "gpunet::io: cannot write ", path,
          ": metadata (which safetensors files hold), name it .safetensors");
  switch (format_of(path)) {
    case Format::torch:
      return write_torch(path, entries);
    case Format::npy:
      require(entries.size() == 1, "gpunet::io: cannot write ", path, ": ", entries.size(),
              " arrays (a .npy file holds one), name it .npz");
      return write_npy(path, entries[0]);
    case Format::npz:
      return write_npz(path, entries);
    case Format::safetensors:
      return write_safetensors(path, entries, metadata);
  }
}

}  // namespace gpunet::io
