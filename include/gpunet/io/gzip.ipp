// Bodies of gzip.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include <gpunet/io/binary.hpp>
#include <gpunet/io/crc32.hpp>
#include <gpunet/io/deflate.hpp>
#include <gpunet/io/gzip.hpp>

namespace gpunet::io {

GPUNET_INLINE bool is_gzip(std::span<const std::byte> file) {
  return file.size() >= 2 && file[0] == std::byte{0x1F} && file[1] == std::byte{0x8B};
}

namespace detail {

// The fixed part of the header; checksum and size.
constexpr std::size_t gzip_header = 10, gzip_trailer = 8;

// Returns where the compressed data starts (RFC 1952, section 2.3) in a file with room for header
// and trailer; 0 if the header is damaged.
GPUNET_INLINE std::size_t gzip_data_begin(std::span<const std::byte> file) {
  constexpr unsigned has_crc = 2, has_extra = 4, has_name = 8, has_comment = 16, reserved = 0xE0,
                     deflated = 8;
  const auto at = [&](std::size_t i) {
    return std::to_integer<unsigned>(file[i]);
  };
  if (at(2) != deflated) return 0;
  const unsigned flags = at(3);
  const std::size_t end = file.size() - gzip_trailer;
  std::size_t begin = gzip_header;
  if (flags & has_extra) {
    if (begin + 2 > end) return 0;
    begin += 2 + at(begin) + 256 * at(begin + 1);
  }
  for (const unsigned text : {has_name, has_comment})
    if (flags & text) {
      while (begin < end && at(begin) != 0)
        ++begin;
      ++begin;
    }
  if (flags & has_crc) begin += 2;
  return (flags & reserved) == 0 && begin <= end ? begin : 0;
}

GPUNET_INLINE GzipReader::GzipReader(std::span<const std::byte> file, const std::string& path)
    : file_(file), path_(path) {
  require(
      deflate_codec() != nullptr, "gpunet::io: ", path,
      " is compressed by gzip, which this program cannot read: decompress it (gunzip), or include "
      "<gpunet/io/zlib.hpp> in one source and link zlib");
  if (file.size() < gzip_header + gzip_trailer) throw_error(cut_off());
  begin_ = gzip_data_begin(file);
  require(begin_ > 0, "gpunet::io: ", path, " has a damaged gzip header, fetch it again");
}

GPUNET_INLINE std::vector<std::byte> GzipReader::start(std::size_t n) const {
  std::vector<std::byte> bytes(n);
  const std::ptrdiff_t got = deflate_codec()->inflater({file_.subspan(begin_)})->read(bytes);
  if (got < 0) refuse(got);
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

GPUNET_INLINE std::vector<std::byte> GzipReader::read(std::size_t most) const {
  ByteReader trailer(file_.last(gzip_trailer), path_);
  const auto sum = trailer.number<std::uint32_t>("the checksum");
  const std::size_t size = trailer.number<std::uint32_t>("the size");
  const std::size_t most_here = std::min(most, file_.size() * most_expansion);
  std::vector<std::byte> bytes(size <= most_here ? size : 0);
  const auto packed = file_.subspan(begin_, file_.size() - begin_ - gzip_trailer);
  if (size <= most_here && read_last(*deflate_codec()->inflater({packed}), bytes) &&
      crc32(bytes) == sum)
    return bytes;
  // If the file is cut off, its last bytes are not size and checksum: find out by decompressing.
  const auto inflater = deflate_codec()->inflater({file_.subspan(begin_)});
  std::array<std::byte, 1 << 14> some;
  std::ptrdiff_t got = 0;
  for (std::size_t all = 0; all <= most_here && (got = inflater->read(some)) == std::ssize(some);
       all += some.size())
    ;
  if (got == Inflater::cut_short) refuse(got);
  require(size <= most_here, "gpunet::io: ", path_, " decompresses to ", size,
          " bytes (want at most ", most_here, "): it is damaged or another file, fetch it again");
  refuse(Inflater::damaged);
}

GPUNET_INLINE Error GzipReader::cut_off() const {
  return Error(concat("gpunet::io: ", path_, " ends at byte ", file_.size(),
                      ", but its compressed data goes on (it is cut off), fetch it again"));
}

GPUNET_INLINE void GzipReader::refuse(std::ptrdiff_t why) const {
  if (why == Inflater::cut_short) throw_error(cut_off());
  throw_error(Error(concat("gpunet::io: ", path_,
                           " is damaged or cut short (its checksum is wrong), fetch it again")));
}

}  // namespace detail

GPUNET_INLINE std::vector<std::byte> gunzip(std::span<const std::byte> file,
                                            const std::string& path, std::size_t most) {
  return detail::GzipReader(file, path).read(most);
}

}  // namespace gpunet::io
