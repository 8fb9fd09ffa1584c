// Where packed data meets the library that unpacks it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace gpunet::io {

// How many times smaller than its contents packed data can be.
inline constexpr std::size_t most_expansion = 1032;

inline constexpr std::ptrdiff_t cut_short = -2;

// Packs and unpacks raw deflate (RFC 1951). <gpunet/io/zlib.hpp> is one, by the system's zlib.
struct DeflateCodec {
  // Unpacks into `out` as much as it holds and returns how many bytes came; -1 where the data is damaged, or cut_short
  // where it goes on behind `packed`. With `whole`, it has to end exactly where `out` and `packed` end: else -1.
  std::ptrdiff_t (*inflate)(std::span<const std::byte> packed, std::span<std::byte> out, bool whole);
  std::vector<std::byte> (*deflate)(std::span<const std::byte> bytes);
};

// The codec of the program, null where it has none. A pointer rather than a macro: units that know zlib and units
// that do not link into one program, all with the same definitions.
inline const DeflateCodec*& deflate_codec() {
  static const DeflateCodec* codec = nullptr;
  return codec;
}

namespace detail {
inline constexpr std::string_view zlib_advice =
    "include <gpunet/io/zlib.hpp> in one source and link zlib (gpunet::zlib in CMake, -lz)";
}  // namespace detail

}  // namespace gpunet::io
