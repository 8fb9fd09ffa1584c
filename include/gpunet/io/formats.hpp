// Files of named arrays in the format that their content or their name tells.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/byte_reader.hpp>
#include <gpunet/io/foreign_file.hpp>
#include <gpunet/io/mapped_file.hpp>
#include <gpunet/io/npy.hpp>
#include <gpunet/io/npz.hpp>
#include <gpunet/io/safetensors.hpp>
#include <gpunet/io/tensor_file.hpp>
#include <gpunet/io/torch_file.hpp>
#include <gpunet/io/torch_writer.hpp>
#include <gpunet/io/zip.hpp>

namespace gpunet::io {

// The kinds of files that are written.
enum class Format { safetensors, torch, npy, npz };

// By the ending of the name: .pth, .pt, .npy, .npz; safetensors for all others.
inline Format format_of(std::string_view path) {
  if (path.ends_with(".pth") || path.ends_with(".pt")) return Format::torch;
  if (path.ends_with(".npy")) return Format::npy;
  if (path.ends_with(".npz")) return Format::npz;
  return Format::safetensors;
}

namespace detail {

// PyTorch's or NumPy's. Throws Error where it is neither.
inline Format format_of_archive(const ZipArchive& archive) {
  if (is_torch_script(archive) || find_torch_pickle(archive)) return Format::torch;
  const std::vector<ZipMember>& members = archive.members();
  require(members.empty() || std::any_of(members.begin(), members.end(),
                                         [](const ZipMember& member) { return member.name.ends_with(npy_ending); }),
          archive.place(),
          ": a zip archive of something else (neither the data.pkl of torch.save nor a .npy file of "
          "numpy.savez is in it, but ",
          members.empty() ? "" : printable(members[0].name), "), give another file");
  return Format::npz;
}

// By the contents; by the name where they tell nothing. Throws Error for those of other kinds of files.
inline Format format_of_contents(std::span<const std::byte> bytes, const std::string& path) {
  const std::string_view text = as_text(bytes);
  // Safetensors first: the length of its header, below 2^32 in 8 bytes, may begin like anything else.
  if (text.substr(0, 9).ends_with(std::string_view("\0\0\0\0{", 5))) return Format::safetensors;
  if (text.starts_with("PK")) return format_of_archive(ZipArchive(bytes, path));
  if (text.starts_with(npy_magic)) return Format::npy;
  if (torch_magic_size(text) > 0) return Format::torch;
  refuse_foreign(text, path);
  require(
      format_of(path) != Format::safetensors || path.ends_with(".safetensors"), "gpunet::io: ", path,
      ", byte 0: neither a safetensors file, nor one of torch.save or NumPy, begins like this (it is damaged, or "
      "something else), fetch it again or give another");
  return format_of(path);
}

}  // namespace detail

// Reads the file at `path` in the format that its contents tell, whatever its name; where they tell nothing, in the one
// of its name. Throws Error.
inline TensorFile read_tensors(const std::string& path) {
  switch (detail::format_of_contents(MappedFile(path).bytes(), path)) {
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
