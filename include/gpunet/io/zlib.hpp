// Optional, not part of gpunet.hpp. A program that includes this header in one source, and links
// zlib (gpunet::zlib in CMake, -lz elsewhere), reads PNG images, .gz files and compressed .pth
// files, and reads and writes compressed .npz files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>
#include <zlib.h>

#include <gpunet/core/error.hpp>
#include <gpunet/io/deflate.hpp>

namespace gpunet::io::detail {

// zlib counts in unsigned int: bytes are passed in pieces of at most this size.
inline uInt zlib_piece(std::size_t left) {
  return static_cast<uInt>(std::min<std::size_t>(left, std::numeric_limits<int>::max()));
}

class ZlibInflater : public Inflater {
 public:
  explicit ZlibInflater(std::vector<std::span<const std::byte>> packed)
      : packed_(std::move(packed)) {
    require(inflateInit2(&stream_, -MAX_WBITS) == Z_OK,
            "gpunet::io: zlib does not start (no memory?), free some");
  }
  ~ZlibInflater() override { inflateEnd(&stream_); }

  std::ptrdiff_t read(std::span<std::byte> out) override {
    std::size_t written = 0;
    while (written < out.size() && status_ == Z_OK) {
      while (next_ < packed_.size() && packed_[next_].empty())
        ++next_;
      std::span<const std::byte> none, &piece = next_ < packed_.size() ? packed_[next_] : none;
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
      stream_.avail_in = zlib_piece(piece.size());
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + written);
      stream_.avail_out = zlib_piece(out.size() - written);
      const uInt in = stream_.avail_in, room = stream_.avail_out;
      status_ = inflate(&stream_, Z_NO_FLUSH);  // Z_BUF_ERROR if neither input nor output advances
      piece = piece.subspan(in - stream_.avail_in);
      written += room - stream_.avail_out;
    }
    if (written == out.size() || status_ == Z_STREAM_END)
      return static_cast<std::ptrdiff_t>(written);
    return status_ == Z_BUF_ERROR ? cut_short : damaged;
  }

  std::size_t left() const override {
    std::size_t bytes = 0;
    for (const std::span<const std::byte> piece : packed_)  // pieces already read are empty
      bytes += piece.size();
    return bytes;
  }

 private:
  std::vector<std::span<const std::byte>> packed_;  // not read yet
  std::size_t next_ = 0;                            // the first piece of it
  z_stream stream_{};
  int status_ = Z_OK;
};

inline std::unique_ptr<Inflater> zlib_inflater(std::vector<std::span<const std::byte>> packed) {
  return std::make_unique<ZlibInflater>(std::move(packed));
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
  require(status == Z_STREAM_END, "gpunet::io: zlib fails with status ", status,
          ", write without compression");
  out.resize(written);
  return out;
}

inline constexpr DeflateCodec zlib_codec{zlib_inflater, zlib_deflate};

[[maybe_unused]] inline const bool zlib_is_there = (deflate_codec() = &zlib_codec) != nullptr;

}  // namespace gpunet::io::detail
