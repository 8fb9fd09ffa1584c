// Bodies of formats.hpp.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/foreign_file.hpp>
#include <gpunet/io/formats.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/mapped_file.hpp>
#include <gpunet/io/zip.hpp>

namespace gpunet::io {

GPUNET_INLINE std::optional<Format> format_of(std::string_view path) {
  const std::string ending =
      gpunet::detail::lower_case(std::string(path.substr(std::min(path.rfind('.'), path.size()))));
  if (ending == ".safetensors") return Format::safetensors;
  if (ending == ".pth" || ending == ".pt") return Format::torch;
  if (ending == ".npy") return Format::npy;
  if (ending == ".npz") return Format::npz;
  return std::nullopt;
}

GPUNET_INLINE Format written_format(const std::string& path) {
  if (path.empty()) detail::fail("write", path, "", ENOENT);
  const std::optional<Format> format = format_of(path);
  require(format.has_value(), "gpunet::io: cannot write ", path,
          ": its name has none of the extensions .safetensors, .pth, .pt, .npz or (for one array) "
          ".npy, which choose the format: add one");
  return *format;
}

namespace detail {

// Archives of other programs, by the end of the name of a member.
inline constexpr ForeignKind foreign_archives[] = {
    {"archive_format", ": a program of torch.export (gpunet reads tensors, not code)",
     "save its state_dict in Python: torch.save(torch.export.load(path).state_dict, new_path)"},
    {"serialized_exported_program.json",
     ": a program of torch.export (gpunet reads tensors, not code)",
     "save its state_dict in Python: torch.save(torch.export.load(path).state_dict, new_path)"},
    {"model.weights.h5", ": a model of Keras (its weights are an HDF5 file)",
     "save them in Python: numpy.savez(new_path, *keras.models.load_model(path).get_weights())"},
    {"[Content_Types].xml", ": a workbook or document of Office",
     "save its table as CSV, for data::read_csv"},
};

// Returns whether an archive is PyTorch's or NumPy's. Throws Error if it is neither.
GPUNET_INLINE Format format_of_archive(const ZipArchive& archive) {
  const std::vector<ZipMember>& members = archive.members();
  for (const ForeignKind& kind : foreign_archives)
    if (std::any_of(members.begin(), members.end(),
                    [&](const ZipMember& member) { return member.name.ends_with(kind.mark); }))
      throw_error(Error(concat(archive.place(), kind.what, ", ", kind.advice)));
  if (is_torch_script(archive) || find_torch_pickle(archive)) return Format::torch;
  require(
      members.empty() ||
          std::any_of(members.begin(), members.end(),
                      [](const ZipMember& member) { return member.name.ends_with(npy_ending); }),
      archive.place(),
      ": a zip archive of something else (neither the data.pkl of torch.save nor a .npy file of "
      "numpy.savez is in it, but ",
      members.empty() ? "" : printable(members[0].name), "), give another file");
  return Format::npz;
}

// Returns the first bytes of a file, enough to recognize foreign files.
GPUNET_INLINE std::string read_start(const std::string& path) {
  InputFile file(path);
  std::string start(std::min<std::size_t>(file.size(), 512), '\0');
  file.read(std::as_writable_bytes(std::span(start)));
  return start;
}

// Returns whether the text starts with the length of a header, below 2^32 in 8 bytes, and its first
// brace.
GPUNET_INLINE bool begins_as_safetensors(std::string_view text) {
  return text.substr(0, 9).ends_with(std::string_view("\0\0\0\0{", 5));
}

// Returns whether a file begins like one of gpunet's formats.
GPUNET_INLINE bool begins_as_known(std::string_view text) {
  return begins_as_safetensors(text) || text.starts_with("PK") || text.starts_with(npy_magic) ||
         torch_magic_size(text) > 0;
}

// Returns the format of the contents, or that of the name if they do not show it. Throws Error for
// other kinds of files.
GPUNET_INLINE Format format_of_contents(std::span<const std::byte> bytes, const std::string& path) {
  const std::string_view text = as_text(bytes);
  // first: it may begin like anything else.
  if (begins_as_safetensors(text)) return Format::safetensors;
  if (text.starts_with("PK")) return format_of_archive(ZipArchive(bytes, path));
  if (text.starts_with(npy_magic)) return Format::npy;
  if (torch_magic_size(text) > 0) return Format::torch;
  refuse_foreign(text, path);
  const std::optional<Format> format = format_of(path);
  require(format.has_value(), "gpunet::io: ", path,
          ", byte 0: neither a safetensors file, nor one of torch.save or NumPy, begins like this "
          "(it is damaged, or something else), fetch it again or give another");
  return *format;
}

}  // namespace detail

GPUNET_INLINE TensorFile read_tensors(const std::string& path, const ReadOptions& options) {
  if (const std::string start = detail::read_start(path); !detail::begins_as_known(start))
    detail::refuse_foreign(start, path);  // before reading the whole file
  auto file = std::make_shared<const FileBytes>(path, options.map);
  switch (detail::format_of_contents(file->bytes(), path)) {
    case Format::torch:
      return TorchFile::read(path, std::move(file), options);
    case Format::npy:
      return NpyFile::read(path, std::move(file));
    case Format::npz:
      return NpzFile::read(path, std::move(file), options);
    case Format::safetensors:
      break;
  }
  return SafetensorsFile::read(path, std::move(file));
}

GPUNET_INLINE TensorFile open_tensors(const std::string& path, const ReadOptions& options) {
  if (!options.map && detail::begins_as_safetensors(detail::read_start(path)))
    return SafetensorsFile::open(path);
  return read_tensors(path, options);
}

GPUNET_INLINE void write_tensors(const std::string& path, std::span<const TensorEntry> entries,
                                 const Metadata& metadata) {
  const Format format = written_format(path);
  require(metadata.empty() || format == Format::safetensors, "gpunet::io: cannot write ", path,
          ": metadata (which safetensors files hold), name it .safetensors");
  switch (format) {
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
