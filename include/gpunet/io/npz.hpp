// NumPy's .npz files: a zip archive with a .npy file for each array.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/byte_reader.hpp>
#include <gpunet/io/deflate.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/mapped_file.hpp>
#include <gpunet/io/npy.hpp>
#include <gpunet/io/tensor_file.hpp>
#include <gpunet/io/zip.hpp>
#include <gpunet/io/zip_writer.hpp>

namespace gpunet::io {

namespace detail {

inline constexpr std::string_view npy_ending = ".npy";

// The unpacked bytes of a deflated array, after its header was seen to fit them: what is asked of memory is what the
// archive says and the array has. Leaves `entry` without its bytes.
inline std::vector<std::byte> inflate_npy(const ZipMember& member, const std::string& place, TensorEntry& entry,
                                          std::size_t& header_size) {
  const DeflateCodec* codec = deflate_codec();
  require(codec, place, " is deflated (which takes zlib), ", zlib_advice, ", or save it with np.savez");
  constexpr std::size_t longest_header = 1 << 16;
  std::vector<std::byte> out(static_cast<std::size_t>(std::min<std::uint64_t>(member.size, longest_header)));
  const auto fail = [&](std::string_view what) {
    throw Error(concat(place, ", byte ", member.data, " of the archive: ", what, ", fetch or save it again"));
  };
  if (codec->inflate(member.packed, out, false) != static_cast<std::ptrdiff_t>(out.size()))
    fail("data that cannot be unpacked (it is damaged)");
  ByteReader bytes(out, place);
  entry = read_npy_header(bytes);
  header_size = bytes.position();
  check_npy_data(bytes, entry, member.size - header_size);
  try {
    out.resize(static_cast<std::size_t>(member.size));
  } catch (const std::bad_alloc&) {
    fail("more data than there is memory");
  }
  if (codec->inflate(member.packed, out, true) != static_cast<std::ptrdiff_t>(out.size()))
    fail("data that cannot be unpacked (it is damaged)");
  return out;
}

// The array in a member of an archive, whose place messages begin with. `unpacked` gets what had to be unpacked.
inline TensorEntry read_npz_member(const ZipMember& member, const std::string& place,
                                   std::vector<std::vector<std::byte>>& unpacked) {
  if (!member.name.ends_with(npy_ending))
    throw Unreadable(concat(place, " is no .npy file (numpy.savez writes no others), leave it out"));
  TensorEntry entry;
  std::span<const std::byte> data = member.packed;
  if (member.method == zip::deflated) {
    std::size_t header = 0;
    unpacked.push_back(inflate_npy(member, place, entry, header));
    data = unpacked.back();
    entry.bytes = data.subspan(header);
  } else {
    ByteReader reader(data, place, member.data);
    entry = read_npy_header(reader);
    check_npy_data(reader, entry, reader.left());
    entry.bytes = reader.rest();
  }
  require(member.has_sum_of(data), place, ", byte ", member.data,
          " of the archive: the check sum does not fit (the data is damaged), fetch or save it again");
  return entry;
}

}  // namespace detail

// A .npz file: arrays as they are stored, mapped into memory, and unpacked ones in memory (where the program has zlib:
// <gpunet/io/zlib.hpp>). Arrays of texts or objects, and other files in it, are entries with a problem.
class NpzFile : public TensorFile {
 public:
  // Throws Error naming the path, the array, and the byte where there is one.
  static NpzFile read(const std::string& path) {
    auto bytes = std::make_shared<Bytes>(path);
    const detail::ZipArchive archive(bytes->map.bytes(), path);
    NpzFile file(path);
    std::size_t arrays = 0;
    for (const detail::ZipMember& member : archive.members()) {
      const std::string place = concat(archive.place(), ", ", detail::printable(member.name));
      TensorEntry entry;
      try {
        entry = detail::read_npz_member(member, place, bytes->unpacked);
      } catch (const detail::Unreadable& error) {
        entry = {.sizes = {0}, .problem = error.what()};
      }
      entry.name = member.name;
      if (entry.name.ends_with(detail::npy_ending)) {
        entry.name.resize(entry.name.size() - detail::npy_ending.size());
        ++arrays;
      }
      require(detail::is_utf8(entry.name), place, ": the name is not UTF-8, save it under another");
      file.entries_.push_back(std::move(entry));
    }
    require(arrays > 0 || file.entries_.empty(), archive.place(),
            ": a zip archive without .npy files (numpy.savez writes nothing else), give another");
    file.owner_ = std::move(bytes);
    return file;
  }

 private:
  struct Bytes {
    explicit Bytes(const std::string& path) : map(path) {}
    MappedFile map;
    std::vector<std::vector<std::byte>> unpacked;
  };

  using TensorFile::TensorFile;
};

struct NpzOptions {
  bool compress = false;  // as np.savez_compressed does; takes <gpunet/io/zlib.hpp>
};

// Writes the arrays to `path`, as AtomicFile does: what np.load reads.
inline void write_npz(const std::string& path, std::span<const TensorEntry> entries, NpzOptions options = {}) {
  detail::check_writable(path, entries);
  const DeflateCodec* codec = deflate_codec();
  require(codec || !options.compress, "gpunet::io: cannot write ", path, ": compressing takes zlib, ",
          detail::zlib_advice, ", or write it without");
  AtomicFile file(path);
  detail::ZipWriter archive(file);
  for (const TensorEntry& entry : entries) {
    std::vector<std::byte> copy;
    const auto [header, data] = detail::npy_parts(path, entry, copy);
    const std::string name = concat(entry.name, detail::npy_ending);
    if (!options.compress) {
      archive.store(name, header, data);
      continue;
    }
    std::vector<std::byte> whole(header.size() + data.size());
    const auto head = std::as_bytes(std::span(header));
    std::copy(data.begin(), data.end(), std::copy(head.begin(), head.end(), whole.begin()));
    archive.deflate(name, whole, *codec);
  }
  archive.finish();
  file.commit();
}

}  // namespace gpunet::io
