// Bodies of npz.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/crc32.hpp>
#include <gpunet/io/deflate.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/mapped_file.hpp>
#include <gpunet/io/npy.hpp>
#include <gpunet/io/npz.hpp>
#include <gpunet/io/zip.hpp>

namespace gpunet::io {

namespace detail {

// A compressed array of an archive, decompressed when its bytes are requested.
class DeflatedArray : public ByteSource {
 public:
  // `place` begins the messages. Throws Error if the program has no codec.
  DeflatedArray(const ZipMember& member, std::string place)
      : member_(member), place_(std::move(place)) {
    require(deflate_codec() != nullptr, place_, " is deflated (which needs zlib), ", zlib_advice,
            ", or save it with np.savez");
  }

  // Returns the array as its header describes it; decompresses no more than the header.
  TensorEntry read_header(const ReadOptions& options) const {
    constexpr std::size_t least = 12, most = 10'000;  // NumPy's default limit
    const std::unique_ptr<Inflater> inflater = open();
    std::vector<std::byte> header(
        std::min<std::size_t>(static_cast<std::size_t>(member_.size), least));
    read_next(*inflater, header);
    const std::size_t size = npy_header_size(header);
    if (size > least + most)
      throw_error(Unreadable(concat(place_, " has a header of ", size, " bytes (want at most ",
                                    most, "), save it again")));
    header.resize(std::min<std::size_t>(static_cast<std::size_t>(member_.size), size));
    read_next(*inflater, std::span(header).subspan(std::min(least, header.size())));
    ByteReader bytes(header, place_);
    TensorEntry entry = read_npy_header(bytes);
    check_npy_data(bytes, entry, member_.size - bytes.position());
    if (member_.size > options.max_unpacked_bytes)
      throw_error(Unreadable(concat(place_, " has ", member_.size, " bytes unpacked (want at most ",
                                    options.max_unpacked_bytes,
                                    "), raise the limit, {.max_unpacked_bytes = ...}")));
    entry.source = this;
    entry.first_byte = bytes.position();
    return entry;
  }

  void read(std::size_t first_byte, std::span<std::byte> out) const override {
    const std::unique_ptr<Inflater> inflater = open();
    std::vector<std::byte> header(first_byte);
    read_next(*inflater, header);
    if (!read_last(*inflater, out)) fail("data that cannot be decompressed (it is damaged)");
    if (member_.crc != 0 && crc32(out, crc32(header)) != member_.crc)
      fail("the checksum does not match (the data is damaged)");
  }

 private:
  std::unique_ptr<Inflater> open() const { return deflate_codec()->inflater({member_.packed}); }
  void read_next(Inflater& inflater, std::span<std::byte> out) const {
    if (inflater.read(out) != std::ssize(out))
      fail("data that cannot be decompressed (it is damaged)");
  }
  [[noreturn]] void fail(std::string_view what) const {
    throw_error(Error(concat(place_, ", byte ", member_.data, " of the archive: ", what,
                             ", fetch or save it again")));
  }

  ZipMember member_;
  std::string place_;
};

// The memory that the arrays of a file borrow.
struct NpzBytes {
  std::shared_ptr<const FileBytes> file;
  std::vector<std::unique_ptr<DeflatedArray>> packed;
};

// Returns the array in a member of an archive. `place` begins the messages. Compressed arrays are
// added to `packed`.
GPUNET_INLINE TensorEntry read_npz_member(const ZipMember& member, const std::string& place,
                                          const ReadOptions& options,
                                          std::vector<std::unique_ptr<DeflatedArray>>& packed) {
  if (!member.name.ends_with(npy_ending))
    throw_error(
        Unreadable(concat(place, " is no .npy file (numpy.savez writes no others), leave it out")));
  if (member.method == zip::deflated) {
    packed.push_back(std::make_unique<DeflatedArray>(member, place));
    return packed.back()->read_header(options);
  }
  ByteReader reader(member.packed, place, member.data);
  TensorEntry entry = read_npy_header(reader);
  check_npy_data(reader, entry, reader.left());
  entry.bytes = reader.rest();
  require(
      member.has_sum_of(member.packed), place, ", byte ", member.data,
      " of the archive: the checksum does not match (the data is damaged), fetch or save it again");
  return entry;
}

}  // namespace detail

GPUNET_INLINE NpzFile NpzFile::read(const std::string& path, const ReadOptions& options) {
  return read(path, std::make_shared<const FileBytes>(path, options.map), options);
}

GPUNET_INLINE NpzFile NpzFile::read(const std::string& path,
                                    std::shared_ptr<const FileBytes> contents,
                                    const ReadOptions& options) {
  auto bytes = std::make_shared<detail::NpzBytes>();
  bytes->file = std::move(contents);
  const detail::ZipArchive archive(bytes->file->bytes(), path);
  NpzFile file(path);
  std::size_t arrays = 0;
  for (const detail::ZipMember& member : archive.members()) {
    const std::string place = concat(archive.place(), ", ", detail::printable(member.name));
    TensorEntry entry;
    const auto read_entry = [&] {
      entry = detail::read_npz_member(member, place, options, bytes->packed);
    };
    gpunet::detail::attempt<detail::Unreadable>(read_entry, [&](const detail::Unreadable& error) {
      entry = {.sizes = {0}, .problem = error.what()};
    });
    entry.name = member.name;
    if (entry.name.ends_with(detail::npy_ending)) {
      entry.name.resize(entry.name.size() - detail::npy_ending.size());
      ++arrays;
    }
    require(detail::is_utf8(entry.name), place, ": the name is not UTF-8, save it under another");
    file.add(std::move(entry));
  }
  require(arrays > 0 || file.entries_.empty(), archive.place(),
          ": a zip archive without .npy files (numpy.savez writes nothing else), give another");
  file.owner_ = std::move(bytes);
  return file;
}

GPUNET_INLINE void write_npz(const std::string& path, std::span<const TensorEntry> entries,
                             NpzOptions options) {
  detail::check_writable(path, entries);
  const DeflateCodec* codec = deflate_codec();
  require(codec || !options.compress, "gpunet::io: cannot write ", path,
          ": compressing needs zlib, ", detail::zlib_advice, ", or write it without");
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
