#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <thread>

#include <gpunet/device/host/host.hpp>
#include <gpunet/device/transfer.hpp>

using namespace gpunet;

TEST_CASE("a host has the threads it is asked for, or one per processor") {
  CHECK(Host({.threads = 1}).threads() == 1);
  CHECK(Host({.threads = 5}).threads() == 5);
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  CHECK(Host().threads() == (processors > 0 ? processors : 1));
  CHECK(Host().name() == "cpu");
}

TEST_CASE("numbers of threads that make no sense") {
  CHECK_THROWS_WITH_AS(Host({.threads = -1}),
                       "gpunet::Host: -1 threads (want 1 to 1024, or 0 for one per processor)", Error);
  CHECK_THROWS_AS(Host({.threads = 1025}), Error);
}

TEST_CASE("host memory starts on a cache line") {
  Host host({.threads = 1});
  for (std::size_t bytes : {1u, 63u, 64u, 1000u}) {
    void* memory = host.allocate(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % Host::alignment == 0);
    host.deallocate(memory, bytes);
  }
}

TEST_CASE("an allocation that fails says how much was wanted") {
  Host host({.threads = 1});
  const std::size_t half = std::numeric_limits<std::size_t>::max() / 4;  // more than any address space
  std::string message;
  try {
    host.deallocate(host.allocate(half), half);
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message == concat("gpunet::Host: no memory for ", half, " bytes, use a smaller batch or network"));
}

TEST_CASE("bytes go from one host to another") {
  Host a({.threads = 1}), b({.threads = 1});
  const int source[3] = {1, 2, 3};
  int target[3] = {};
  transfer(a, source, b, target, sizeof source);
  CHECK(target[0] == 1);
  CHECK(target[2] == 3);
  int copy[3] = {};
  a.copy(copy, target, sizeof copy);
  CHECK(copy[1] == 2);
}
