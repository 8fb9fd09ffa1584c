// The bytes of a file, copied or mapped into memory.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <gpunet/core/config.hpp>

namespace gpunet::io {

// A regular file mapped into memory: the system reads the parts that are accessed. If AtomicFile
// replaces the file, the map stays as it was; if another program truncates it, accessing the lost
// bytes ends this program (SIGBUS).
class MappedFile {
 public:
  // Throws Error naming the path and the reason.
  explicit MappedFile(const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {begin_, size_}; }

 private:
  const std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
};

// The bytes of a regular file: a copy, which does not change with the file, or a map.
class FileBytes {
 public:
  // Throws Error naming the path and the reason, also if the file becomes shorter while it is
  // copied.
  explicit FileBytes(const std::string& path, bool map = false);
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::optional<MappedFile> mapped_;
  std::unique_ptr<std::byte[]> copy_;
  std::span<const std::byte> bytes_;
};

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/mapped_file.ipp>
#endif
