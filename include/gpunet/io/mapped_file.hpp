// Files of any size as memory, of which only what is looked at is read.
#pragma once

#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <sys/mman.h>

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

}  // namespace gpunet::io
