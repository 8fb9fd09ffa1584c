#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include <gpunet/device/host/memory_cache.hpp>

using gpunet::detail::HostMemoryCache;

#if GPUNET_CACHES_HOST_MEMORY
TEST_CASE("a freed block is used again for about its size") {
  HostMemoryCache cache;
  void* const block = cache.allocate(1000);
  cache.deallocate(block, 1000);
  void* const same = cache.allocate(1010);
  CHECK(same == block);
  void* const other = cache.allocate(1000);
  CHECK(other != block);
  cache.deallocate(same, 1010);
  void* const large = cache.allocate(3000);
  CHECK(large != block);
  cache.deallocate(large, 3000);
  cache.deallocate(other, 1000);
}
#endif

TEST_CASE("blocks are aligned, and as large as was asked for") {
  HostMemoryCache cache;
  for (const std::size_t bytes : {1u, 63u, 64u, 65u, 1023u, 1025u, 5000u, 1000000u, 70000000u}) {
    CAPTURE(bytes);
    for (int time = 0; time < 2; ++time) {
      void* const block = cache.allocate(bytes);
      CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
      std::memset(block, 1, bytes);
      cache.deallocate(block, bytes);
    }
  }
  cache.deallocate(cache.allocate(0), 0);
  cache.deallocate(nullptr, 100);
}

TEST_CASE("threads share a cache") {
  HostMemoryCache cache;
  const auto work = [&cache](unsigned char value) {
    bool intact = true;
    for (int i = 0; i < 2000; ++i) {
      const std::size_t bytes = 64 + static_cast<std::size_t>(i % 40) * 64;
      auto* const block = static_cast<unsigned char*>(cache.allocate(bytes));
      std::memset(block, value, bytes);
      intact = intact && block[0] == value && block[bytes - 1] == value;
      cache.deallocate(block, bytes);
    }
    return intact;
  };
  bool first = false, second = false;
  std::thread one([&] { first = work(1); }), two([&] { second = work(2); });
  one.join();
  two.join();
  CHECK(first);
  CHECK(second);
}
