// Files packed by gzip.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/byte_reader.hpp>
#include <gpunet/io/crc32.hpp>
#include <gpunet/io/deflate.hpp>

namespace gpunet::io {

namespace detail {

constexpr std::size_t gzip_header = 10, gzip_trailer = 8;  // of the header what is always there; check sum and size

// Where the packed data begins (RFC 1952, section 2.3) in a file that has room for header and trailer; 0 if the header is
// damaged.
inline std::size_t gzip_data_begin(std::span<const std::byte> file) {
  constexpr unsigned has_crc = 2, has_extra = 4, has_name = 8, has_comment = 16, reserved = 0xE0, deflated = 8;
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

}  // namespace detail

inline bool is_gzip(std::span<const std::byte> file) {
  return file.size() >= 2 && file[0] == std::byte{0x1F} && file[1] == std::byte{0x8B};
}

// What a gzip file of one member holds, at most `most` bytes. `path` is for messages. Throws Error where the file is
// damaged or cut short, or where the program has no codec (see zlib.hpp).
inline std::vector<std::byte> gunzip(std::span<const std::byte> file, const std::string& path, std::size_t most) {
  require(
      deflate_codec() != nullptr, "gpunet::io: ", path,
      " is packed by gzip, which this program cannot read: unpack it (gunzip), or include <gpunet/io/zlib.hpp> in "
      "one source and link zlib");
  const auto cut_off = [&] {
    return Error(concat("gpunet::io: ", path, " ends at byte ", file.size(),
                        ", but its packed data goes on (it is cut off), fetch it again"));
  };
  if (file.size() < detail::gzip_header + detail::gzip_trailer) throw cut_off();
  const std::size_t begin = detail::gzip_data_begin(file);
  require(begin > 0, "gpunet::io: ", path, " has a damaged gzip header, fetch it again");
  detail::ByteReader trailer(file.last(detail::gzip_trailer), path);
  const auto sum = trailer.number<std::uint32_t>("the check sum");
  const std::size_t size = trailer.number<std::uint32_t>("the size");
  const std::size_t most_here = std::min(most, file.size() * most_expansion);
  std::vector<std::byte> bytes(size <= most_here ? size : 0);
  const auto packed = file.subspan(begin, file.size() - begin - detail::gzip_trailer);
  if (size <= most_here && deflate_codec()->inflate(packed, bytes, true) == static_cast<std::ptrdiff_t>(size) &&
      detail::crc32(bytes) == sum)
    return bytes;
  // Where the file is cut off, its last bytes are no size and no sum.
  bytes.resize(most_here);
  if (deflate_codec()->inflate(file.subspan(begin), bytes, true) == cut_short) throw cut_off();
  require(size <= most_here, "gpunet::io: ", path, " unpacks to ", size, " bytes (want at most ", most_here,
          "): it is damaged or another file, fetch it again");
  throw Error(concat("gpunet::io: ", path, " is damaged or cut short (its check sum is wrong), fetch it again"));
}

}  // namespace gpunet::io
