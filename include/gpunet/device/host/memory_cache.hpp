// Memory of a Host that is used again.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include <gpunet/device/host/lent_memory.hpp>

namespace gpunet::detail {

// Stores the blocks that were freed last, 64 MB at most, for allocations of about their size: a
// block of a few megabytes that goes back to the system costs a page fault for each 4 KB when it is
// used again, more than a pass of arithmetic over it; a small one costs more than the arithmetic on
// 32 floats. A thread that finds another one here does not wait, but asks the system. Stores
// nothing under the address sanitizer, which would no longer see errors.
class HostMemoryCache {
 public:
  HostMemoryCache() = default;
  ~HostMemoryCache();
  HostMemoryCache(const HostMemoryCache&) = delete;
  HostMemoryCache& operator=(const HostMemoryCache&) = delete;

  // Throws Error where there is no memory.
  void* allocate(std::size_t bytes);
  // `bytes` is the size of the allocation.
  void deallocate(void* memory, std::size_t bytes) noexcept;

 private:
  // A block that is not in use.
  struct Block {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  static std::size_t rounded(std::size_t bytes);

  std::atomic_flag busy_;
  std::array<Block, 32> blocks_{};
  std::size_t stored_ = 0;  // bytes
  std::size_t next_ = 0;    // to be replaced
};

}  // namespace gpunet::detail

#if !GPUNET_COMPILED
#include <gpunet/device/host/memory_cache.ipp>
#endif
