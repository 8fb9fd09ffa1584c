// The interface to a library that compresses and decompresses deflate streams.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <gpunet/core/config.hpp>

namespace gpunet::io {

// The largest factor by which deflate can compress.
inline constexpr std::size_t most_expansion = 1032;

// Decompresses a raw deflate stream (RFC 1951), front to back.
class Inflater {
 public:
  static constexpr std::ptrdiff_t damaged = -1, cut_short = -2;

  Inflater() = default;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  virtual ~Inflater() = default;

  // Fills `out` with the next bytes and returns their number, less than its size only at the end of
  // the stream. Returns `damaged` if this is not a deflate stream, `cut_short` if the compressed
  // bytes end before the stream does.
  virtual std::ptrdiff_t read(std::span<std::byte> out) = 0;
  // Returns the number of compressed bytes after the end of the stream, once that was reached.
  virtual std::size_t left() const = 0;
};

// Compresses and decompresses raw deflate streams. <gpunet/io/zlib.hpp> is one, using the system's
// zlib.
struct DeflateCodec {
  // Borrows the compressed bytes, which may be in several pieces.
  std::unique_ptr<Inflater> (*inflater)(std::vector<std::span<const std::byte>> packed);
  std::vector<std::byte> (*deflate)(std::span<const std::byte> bytes);
};

// Returns the codec of the program, null if it has none. A pointer rather than a macro, so that
// units with and without zlib link into one program with the same definitions.
const DeflateCodec*& deflate_codec();

namespace detail {

inline constexpr std::string_view zlib_advice =
    "include <gpunet/io/zlib.hpp> in one source and link zlib (gpunet::zlib in CMake, -lz)";

// Fills `out`; returns whether those were the last bytes of the stream, with no compressed bytes
// after it.
bool read_last(Inflater& inflater, std::span<std::byte> out);

}  // namespace detail

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/deflate.ipp>
#endif
