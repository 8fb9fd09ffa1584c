// Where packed data meets the library that unpacks it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <gpunet/core/config.hpp>

namespace gpunet::io {

// How many times smaller than its contents packed data can be.
inline constexpr std::size_t most_expansion = 1032;

// Unpacks raw deflate (RFC 1951) from front to back.
class Inflater {
 public:
  static constexpr std::ptrdiff_t damaged = -1, cut_short = -2;

  Inflater() = default;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  virtual ~Inflater() = default;

  // Fills `out` with the next bytes and returns how many there were, fewer than it holds only at the end; or `damaged` where
  // this is no deflate stream, or `cut_short` where the stream goes on behind its packed bytes.
  virtual std::ptrdiff_t read(std::span<std::byte> out) = 0;
  // How many packed bytes follow the end of the stream, once it was reached.
  virtual std::size_t left() const = 0;
};

// Packs and unpacks raw deflate. <gpunet/io/zlib.hpp> is one, by the system's zlib.
struct DeflateCodec {
  // Borrows the packed bytes, which may be in several pieces.
  std::unique_ptr<Inflater> (*inflater)(std::vector<std::span<const std::byte>> packed);
  std::vector<std::byte> (*deflate)(std::span<const std::byte> bytes);
};

// The codec of the program, null where it has none. A pointer rather than a macro: units that know zlib and units
// that do not link into one program, all with the same definitions.
const DeflateCodec*& deflate_codec();

namespace detail {

inline constexpr std::string_view zlib_advice =
    "include <gpunet/io/zlib.hpp> in one source and link zlib (gpunet::zlib in CMake, -lz)";

// Whether the next bytes of the stream fill `out`, and are the last ones, with nothing packed behind them.
bool read_last(Inflater& inflater, std::span<std::byte> out);

}  // namespace detail

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/deflate.ipp>
#endif
