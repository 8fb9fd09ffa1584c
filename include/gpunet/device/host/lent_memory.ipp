// Bodies of lent_memory.hpp.
#pragma once

#include <cstdint>
#include <new>
#include <utility>

#include <gpunet/device/host/lent_memory.hpp>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace gpunet::detail {

// Asks for pages of 2 MB where whole ones lie in new memory: large arrays then need fewer look-ups
// of addresses.
GPUNET_INLINE void prefer_large_pages([[maybe_unused]] void* p,
                                      [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__)
  constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const std::uintptr_t begin = (address + page - 1) / page * page,
                       end = (address + bytes) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

GPUNET_INLINE void* allocate_on_host(std::size_t bytes) {
  const auto allocate = [&] {
    void* p = ::operator new (bytes, std::align_val_t{host_alignment});
    prefer_large_pages(p, bytes);
    return p;
  };
  return attempt<std::bad_alloc>(allocate, [&](const std::bad_alloc&) -> void* {
    throw_error(Error(
        concat("gpunet::Host: no memory for ", bytes, " bytes, use a smaller batch or network")));
  });
}

GPUNET_INLINE void deallocate_on_host(void* p) noexcept {
  ::operator delete (p, std::align_val_t{host_alignment});
}

GPUNET_INLINE void* GrowingMemory::grow(std::size_t bytes) {
  if (bytes <= bytes_) return data_;
  deallocate_on_host(std::exchange(data_, nullptr));
  bytes_ = 0;
  data_ = allocate_on_host(bytes);
  bytes_ = bytes;
  return data_;
}

}  // namespace gpunet::detail
