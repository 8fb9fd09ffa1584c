// The bytes of a file in memory: copied, or mapped.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <gpunet/core/config.hpp>

namespace gpunet::io {

// The bytes of a regular file, read by the system where they are touched. A file that AtomicFile replaces meanwhile
// stays what it was; one that another program makes shorter ends this program when the lost bytes are touched.
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

// The bytes of a regular file: a copy, which does not change when the file does, or a map.
class FileBytes {
 public:
  // Throws Error naming the path and the reason; one is a file that becomes shorter while it is copied.
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
