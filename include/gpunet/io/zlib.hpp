// Optional: a program that includes this header in one of its sources, and links zlib (gpunet::zlib in CMake, -lz
// elsewhere), reads PNG images, .gz files and deflated .pth files, and reads and writes deflated .npz files. Not part of gpunet.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>
#include <zlib.h>

#include <gpunet/core/error.hpp>
#include <gpunet/io/deflate.hpp>

namespace gpunet::io::detail {

// zlib counts in unsigned int: bytes are handed over in pieces of at most this size.
inline uInt zlib_piece(std::size_t left) {
  return static_cast<uInt>(std::min<std::size_t>(left, std::numeric_limits<int>::max()));
}

inline std::ptrdiff_t zlib_inflate(std::span<const std::byte> packed, std::span<std::byte> out, bool whole) {
  z_stream stream{};
  require(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "gpunet::io: zlib does not start (no memory?), free some");
  std::size_t read = 0, written = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + read));
    stream.avail_in = zlib_piece(packed.size() - read);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
    stream.avail_out = zlib_piece(out.size() - written);
    const uInt in = stream.avail_in, room = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);  // Z_BUF_ERROR where neither in nor room moves on
    read += in - stream.avail_in;
    written += room - stream.avail_out;
  }
  inflateEnd(&stream);
  if (status == Z_BUF_ERROR && written < out.size()) return cut_short;
  const bool ended = status == Z_STREAM_END && read == packed.size() && written == out.size();
  const bool full = (status == Z_BUF_ERROR && written == out.size()) || status == Z_STREAM_END;
  return (whole ? ended : full) ? static_cast<std::ptrdiff_t>(written) : -1;
}

inline std::vector<std::byte> zlib_deflate(std::span<const std::byte> bytes) {
  z_stream stream{};
  const int level = 6, memory = 8;  // zlib's defaults
  require(deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, memory, Z_DEFAULT_STRATEGY) == Z_OK,
          "gpunet::io: zlib does not start (no memory?), free some");
  std::vector<std::byte> out(1 << 16);
  std::size_t read = 0, written = 0;
  int status = Z_OK;
  while (status == Z_OK || status == Z_BUF_ERROR) {
    if (written == out.size()) out.resize(2 * out.size());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data() + read));
    stream.avail_in = zlib_piece(bytes.size() - read);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
    stream.avail_out = zlib_piece(out.size() - written);
    const uInt in = stream.avail_in, room = stream.avail_out;
    status = deflate(&stream, read + in == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    read += in - stream.avail_in;
    written += room - stream.avail_out;
  }
  deflateEnd(&stream);
  require(status == Z_STREAM_END, "gpunet::io: zlib fails with status ", status, ", write without compression");
  out.resize(written);
  return out;
}

inline constexpr DeflateCodec zlib_codec{zlib_inflate, zlib_deflate};

[[maybe_unused]] inline const bool zlib_is_there = (deflate_codec() = &zlib_codec) != nullptr;

}  // namespace gpunet::io::detail
