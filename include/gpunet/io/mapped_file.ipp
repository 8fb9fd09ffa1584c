// Bodies of mapped_file.hpp.
#pragma once

#include <cerrno>
#include <new>
#include <sys/mman.h>

#include <gpunet/core/error.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/mapped_file.hpp>

namespace gpunet::io {

GPUNET_INLINE MappedFile::MappedFile(const std::string& path) {
  const InputFile file(path);
  size_ = file.size();
  if (size_ == 0) return;  // the system refuses to map an empty file
  void* const begin = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (begin == MAP_FAILED) detail::fail("read", path, "", errno);
  begin_ = static_cast<const std::byte*>(begin);
}

GPUNET_INLINE MappedFile::~MappedFile() {
  if (begin_) ::munmap(const_cast<std::byte*>(begin_), size_);
}

GPUNET_INLINE FileBytes::FileBytes(const std::string& path, bool map) {
  if (map) {
    bytes_ = mapped_.emplace(path).bytes();
    return;
  }
  InputFile file(path);
  copy_.reset(new (std::nothrow) std::byte[file.size()]);
  require(copy_ != nullptr, "gpunet::io: cannot read ", path, ": its ", file.size(),
          " bytes are more than the available memory, free some or have it mapped: {.map = true}");
  const std::span<std::byte> all(copy_.get(), file.size());
  file.read(all);
  bytes_ = all;
}

}  // namespace gpunet::io
