// The bytes of a file in memory: copied, or mapped.
#pragma once

#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <sys/mman.h>

#include <gpunet/core/error.hpp>
#include <gpunet/io/file.hpp>

namespace gpunet::io {

// The bytes of a regular file, read by the system where they are touched. A file that AtomicFile replaces meanwhile
// stays what it was; one that another program makes shorter ends this program when the lost bytes are touched.
class MappedFile {
 public:
  // Throws Error naming the path and the reason.
  explicit MappedFile(const std::string& path) {
    const InputFile file(path);
    size_ = file.size();
    if (size_ == 0) return;  // which the system refuses to map
    void* const begin = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (begin == MAP_FAILED) detail::fail("read", path, "", errno);
    begin_ = static_cast<const std::byte*>(begin);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (begin_) ::munmap(const_cast<std::byte*>(begin_), size_);
  }

  std::span<const std::byte> bytes() const { return {begin_, size_}; }

 private:
  const std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
};

// The bytes of a regular file: a copy, which does not change when the file does, or a map.
class FileBytes {
 public:
  // Throws Error naming the path and the reason; one is a file that becomes shorter while it is copied.
  explicit FileBytes(const std::string& path, bool map = false) {
    if (map) {
      bytes_ = mapped_.emplace(path).bytes();
      return;
    }
    InputFile file(path);
    copy_.reset(new (std::nothrow) std::byte[file.size()]);
    require(copy_ != nullptr, "gpunet::io: cannot read ", path, ": its ", file.size(),
            " bytes are more than there is memory, free some or have it mapped: {.map = true}");
    const std::span<std::byte> all(copy_.get(), file.size());
    file.read(all);
    bytes_ = all;
  }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::optional<MappedFile> mapped_;
  std::unique_ptr<std::byte[]> copy_;
  std::span<const std::byte> bytes_;
};

}  // namespace gpunet::io
