// How the bytes of arrays come into memory.
#pragma once

#include <cstddef>
#include <span>

namespace gpunet::io {

// Gives the bytes of arrays that are not in memory: they are in a file, or packed.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  // Fills `out` with the bytes from `first_byte` on. Throws Error where they cannot be read.
  virtual void read(std::size_t first_byte, std::span<std::byte> out) const = 0;
};

// How the arrays of a file come into memory.
struct ReadOptions {
  // Mapped instead of copied: for files larger than memory, of which only the parts in use are read. As long as the file is
  // in use, a program that makes it shorter ends this one (SIGBUS), and one that rewrites it changes the arrays.
  bool map = false;
  // A packed array (of a .npz file) with more bytes cannot be read: it is an entry with a problem. Packed arrays are unpacked
  // when their elements are requested, each by itself; a file can have 1032 times its size of them.
  std::size_t max_unpacked_bytes = std::size_t{4} << 30;
};

}  // namespace gpunet::io
