// Reads files compressed by gzip.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/core/error.hpp>

namespace gpunet::io {

// Returns whether the contents of a file begin like a gzip file.
bool is_gzip(std::span<const std::byte> file);

namespace detail {

// Reads a gzip file of one member. `path` is for messages.
class GzipReader {
 public:
  // Throws Error if the header is damaged or cut short, or the program has no codec (zlib.hpp).
  GzipReader(std::span<const std::byte> file, const std::string& path);

  // Returns the first n bytes of the contents, or all if there are fewer. Throws Error if they
  // cannot be decompressed.
  std::vector<std::byte> start(std::size_t n) const;

  // Returns the contents. Allocates the size stated at the end of the file, at most `most` bytes.
  // Throws Error if the file is damaged or cut short, or its contents are larger.
  std::vector<std::byte> read(std::size_t most) const;

 private:
  Error cut_off() const;
  [[noreturn]] void refuse(std::ptrdiff_t why) const;

  std::span<const std::byte> file_;
  const std::string& path_;
  std::size_t begin_ = 0;  // of the compressed data
};

}  // namespace detail

// Returns the contents of a gzip file of one member, at most `most` bytes. `path` is for messages.
// Throws Error if the file is damaged or cut short, or the program has no codec (zlib.hpp).
std::vector<std::byte> gunzip(std::span<const std::byte> file, const std::string& path,
                              std::size_t most);

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/gzip.ipp>
#endif
