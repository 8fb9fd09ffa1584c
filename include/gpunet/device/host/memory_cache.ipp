// Bodies of memory_cache.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include <gpunet/device/host/memory_cache.hpp>

namespace gpunet::detail {

GPUNET_INLINE HostMemoryCache::~HostMemoryCache() {
  for (const Block& block : blocks_)
    deallocate_on_host(block.memory);
}

// Blocks of nearly one size are one size: multiples of 64 bytes, of large ones of an eighth.
GPUNET_INLINE std::size_t HostMemoryCache::rounded(std::size_t bytes) {
  std::size_t step = 64;
  while (step * 16 < bytes)
    step *= 2;
  return (bytes + step - 1) / step * step;
}

GPUNET_INLINE void* HostMemoryCache::allocate(std::size_t bytes) {
#if GPUNET_CACHES_HOST_MEMORY
  if (bytes == 0 || bytes > most_bytes) return allocate_on_host(bytes);
  const std::size_t size = rounded(bytes);
  void* memory = nullptr;
  if (!busy_.test_and_set(std::memory_order_acquire)) {
    for (Block& block : blocks_)
      if (block.bytes == size) {
        stored_ -= size;
        block.bytes = 0;
        memory = std::exchange(block.memory, nullptr);
        break;
      }
    busy_.clear(std::memory_order_release);
  }
  return memory ? memory : allocate_on_host(size);
#else
  return allocate_on_host(bytes);
#endif
}

GPUNET_INLINE void HostMemoryCache::deallocate(void* memory, std::size_t bytes) noexcept {
#if GPUNET_CACHES_HOST_MEMORY
  if (memory && bytes > 0 && bytes <= most_bytes &&
      !busy_.test_and_set(std::memory_order_acquire)) {
    const std::size_t size = rounded(bytes);
    const auto replace = [&] {
      Block& block = blocks_[next_];
      next_ = (next_ + 1) % blocks_.size();
      stored_ -= block.bytes;
      deallocate_on_host(block.memory);
      block = {};
      return &block;
    };
    const auto empty = std::find_if(blocks_.begin(), blocks_.end(),
                                    [](const Block& block) { return !block.memory; });
    Block* place = empty != blocks_.end() ? &*empty : replace();
    while (stored_ + size > most_bytes)
      place = replace();
    *place = {memory, size};
    stored_ += size;
    busy_.clear(std::memory_order_release);
    return;
  }
#else
  static_cast<void>(bytes);
#endif
  deallocate_on_host(memory);
}

}  // namespace gpunet::detail
