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

constexpr std::size_t gzip_trailer = 8;  // check sum and size of what was packed

// Where the packed data begins (RFC 1952, section 2.3); 0 if the header is damaged.
inline std::size_t gzip_data_begin(std::span<const std::byte> file) {
  constexpr std::size_t fixed = 10;
  constexpr unsigned has_crc = 2, has_extra = 4, has_name = 8, has_comment = 16, reserved = 0xE0, deflated = 8;
  const auto at = [&](std::size_t i) {
    return std::to_integer<unsigned>(file[i]);
  };
  if (file.size() < fixed + gzip_trailer || at(2) != deflated) return 0;
  const unsigned flags = at(3);
  const std::size_t end = file.size() - gzip_trailer;
  std::size_t begin = fixed;
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
  return (flags & reserved) == 0 && begin < end ? begin : 0;
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
  const std::size_t begin = detail::gzip_data_begin(file);
  require(begin > 0, "gpunet::io: ", path, " has a damaged gzip header, fetch it again");
  detail::ByteReader trailer(file.last(detail::gzip_trailer), path);
  const auto sum = trailer.number<std::uint32_t>("the check sum");
  const std::size_t size = trailer.number<std::uint32_t>("the size");
  const std::size_t most_here = std::min(most, file.size() * most_expansion);
  require(size <= most_here, "gpunet::io: ", path, " unpacks to ", size, " bytes (want at most ", most_here,
          "): it is damaged or another file, fetch it again");
  std::vector<std::byte> bytes(size);
  const auto packed = file.subspan(begin, file.size() - begin - detail::gzip_trailer);
  require(deflate_codec()->inflate(packed, bytes, true) == static_cast<std::ptrdiff_t>(size) &&
              detail::crc32(bytes) == sum,
          "gpunet::io: ", path, " is damaged or cut short (its check sum is wrong), fetch it again");
  return bytes;
}

}  // namespace gpunet::io
