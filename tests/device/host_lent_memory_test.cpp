#include <cstdint>
#include <doctest/doctest.h>
#include <limits>

#include <gpunet/device/host/lent_memory.hpp>

using namespace gpunet;
using detail::LentMemory;

TEST_CASE("lent memory is the same in every call that needs no more, and starts on a cache line") {
  LentMemory memory;
  const auto address = [&](std::size_t bytes) {
    const LentMemory::Loan loan(memory, bytes);
    if (bytes > 0) loan.as<char>()[bytes - 1] = 1;
    return reinterpret_cast<std::uintptr_t>(loan.as<char>());
  };
  const std::uintptr_t first = address(1000);
  CHECK(first % detail::host_alignment == 0);
  CHECK(address(10) == first);
  CHECK(address(1000) == first);
  CHECK(address(0) == first);
  CHECK(address(100000) != 0);
}

TEST_CASE("who finds memory lent gets memory of his own") {
  LentMemory memory;
  const LentMemory::Loan first(memory, 100);
  {
    const LentMemory::Loan second(memory, 100);
    CHECK(second.as<char>() != first.as<char>());
  }
  const LentMemory::Loan third(memory, 50);
  CHECK(third.as<char>() != first.as<char>());
}

TEST_CASE("a loan that fails leaves the memory to the next one") {
  LentMemory memory;
  CHECK_THROWS_AS(LentMemory::Loan(memory, std::numeric_limits<std::size_t>::max() / 4), Error);
  char* kept = nullptr;
  {
    const LentMemory::Loan loan(memory, 100);
    kept = loan.as<char>();
  }
  CHECK(LentMemory::Loan(memory, 100).as<char>() == kept);
}
