// A program that trains has afterwards the threads, open files, signal handlers, floating-point
// mode and environment of before.
#include <cfenv>
#include <cstdint>
#include <doctest/doctest.h>
#include <filesystem>
#include <memory>

#include "guest/process.hpp"
#include "guest/training.hpp"

using namespace gpunet;

namespace {

// The control register of the vector unit: rounding, subnormals.
std::uint32_t floating_point_mode() {
#if GPUNET_X86
  return __builtin_ia32_stmxcsr() & ~0x3Fu;  // without the flags of what happened
#else
  return static_cast<std::uint32_t>(std::fegetround());
#endif
}

TEST_CASE("A training leaves no thread, open file or signal handler") {
  const std::size_t threads = guest::entries("/proc/self/task"), files = guest::open_files();
  const auto handlers = guest::signal_handlers();
  const std::uint32_t mode = floating_point_mode();
  const auto folder = std::filesystem::current_path();

  std::vector<float> numbers;
  {
    Host device({.threads = 3});
    CHECK(guest::entries("/proc/self/task") == threads + 2);  // the caller is one of the three
    CHECK(guest::signal_handlers() == handlers);
    numbers = guest::train(device, 2);
    CHECK(guest::threads_after_wait(threads + 2) == threads + 2);
    CHECK(floating_point_mode() == mode);
  }
  CHECK(guest::threads_after_wait(threads) == threads);
  CHECK(guest::open_files() == files);
  CHECK(guest::signal_handlers() == handlers);
  CHECK(std::filesystem::current_path() == folder);
  CHECK(numbers.front() == doctest::Approx(2.3).epsilon(0.1));
  CHECK(numbers[15] < numbers[0]);
}

TEST_CASE("A device of one thread starts none, and the workers of a loader end with its epoch") {
  const std::size_t threads = guest::entries("/proc/self/task");
  Host device({.threads = 1});
  CHECK(guest::entries("/proc/self/task") == threads);
  const data::Digits digits(64, 1);
  data::DataLoader loader(digits, {.batch_size = 4, .num_workers = 3});
  CHECK(guest::entries("/proc/self/task") == threads);  // none before the loop
  {
    auto batches = loader.to(device);
    for (auto batch : batches) {
      static_cast<void>(batch);
      CHECK(guest::entries("/proc/self/task") == threads + 3);
      break;
    }
  }
  CHECK(guest::threads_after_wait(threads) == threads);
}

TEST_CASE("Only an InterruptGuard sets a signal handler, and it restores the one before") {
  const auto handlers = guest::signal_handlers();
  {
    const train::InterruptGuard guard;
    CHECK(guest::signal_handlers() != handlers);
  }
  CHECK(guest::signal_handlers() == handlers);
}

}  // namespace
