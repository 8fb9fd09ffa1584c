// Files packed by gzip.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/core/error.hpp>

namespace gpunet::io {

bool is_gzip(std::span<const std::byte> file);

namespace detail {

// A gzip file of one member. `path` is for messages.
class GzipReader {
 public:
  // Throws Error where the header is damaged or cut short, or where the program has no codec (see zlib.hpp).
  GzipReader(std::span<const std::byte> file, const std::string& path);

  // The first bytes that it holds: n, or fewer if there are no more. Throws Error where they cannot be unpacked.
  std::vector<std::byte> start(std::size_t n) const;

  // All that it holds. No more memory is taken than for as many bytes as its end says, and at most `most`. Throws Error
  // where the file is damaged or cut short, or holds more.
  std::vector<std::byte> read(std::size_t most) const;

 private:
  Error cut_off() const;
  [[noreturn]] void refuse(std::ptrdiff_t why) const;

  std::span<const std::byte> file_;
  const std::string& path_;
  std::size_t begin_ = 0;  // of the packed data
};

}  // namespace detail

// What a gzip file of one member holds, at most `most` bytes. `path` is for messages. Throws Error where the file is
// damaged or cut short, or where the program has no codec (see zlib.hpp).
std::vector<std::byte> gunzip(std::span<const std::byte> file, const std::string& path, std::size_t most);

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/gzip.ipp>
#endif
