// fork(): a child has copies of the parent's objects, but none of their threads.
#include "support/fork.hpp"

#include <csignal>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "guest/process.hpp"
#include "guest/training.hpp"
#include "support/errors.hpp"

using namespace gpunet;

// Of the library that counts what is tested, where it is linked (scripts/coverage.sh).
extern "C" [[gnu::weak]] int __llvm_profile_write_file();

namespace {

// Returns what f returns in a child, or 128 and the signal that ended it: SIGALRM if it hangs.
template <class F>
int in_child(F f) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(60);
    const int result = f();
    if (__llvm_profile_write_file) __llvm_profile_write_file();
    ::_exit(result);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

TEST_CASE("A child makes a device of its own") {
  Host device({.threads = 3});
  const auto expected = guest::train(device, 2);
  let_threads_sleep();
  CHECK(in_child([&] {
          Host own({.threads = 3});
          return guest::train(own, 2) == expected ? 0 : 1;
        }) == 0);
  CHECK(guest::train(device, 2) == expected);
}

TEST_CASE(
    "A child uses a device of the parent: its thread runs everything, with the same results") {
  for (const bool asleep : {true, false}) {
    CAPTURE(asleep);
    for (int repeat = 0; repeat < 5; ++repeat) {
      auto device = std::make_unique<Host>(HostOptions{.threads = 3});
      const auto expected = guest::train(*device, 2);
      if (asleep) let_threads_sleep();
      CHECK(in_child([&] {
              if (guest::train(*device, 2) != expected) return 1;
              if (guest::entries("/proc/self/task") != 1) return 2;
              // May get the memory of the stacks that the parent's threads had.
              Host own({.threads = 2});
              device.reset();  // does not wait for threads that are not there
              return guest::train(own, 0) == expected ? 0 : 3;
            }) == 0);
    }
  }
}

TEST_CASE("A child that a task forks runs everything itself, too") {
  Host device({.threads = 2});
  std::vector<int> ended(2, -1);
  device.run(2, [&](index_t i, int) {
    if (i > 0) return;
    ended[0] = in_child([&] {
      int sum = 0;
      device.run(100, [&](index_t k, int) { sum += static_cast<int>(k); });
      return sum == 4950 ? 0 : 1;
    });
  });
  CHECK(ended[0] == 0);
}

TEST_CASE("An epoch does not go on in a child, but a new one begins there") {
  const std::string message =
      "gpunet::data::DataLoader: an epoch that began before fork() goes on in the child (its "
      "workers are threads "
      "of "
      "the parent), begin an epoch in the child";
  Host device({.threads = 1});
  const data::Digits digits(64, 1);
  data::DataLoader loader(digits, {.batch_size = 2, .num_workers = 2});
  const auto count = [](auto& batches) {
    int n = 0;
    for (auto [inputs, labels] : batches)
      n += inputs.size(0) == 2;
    return n;
  };
  for (int repeat = 0; repeat < 5; ++repeat) {
    // Cannot be moved.
    std::unique_ptr<data::Batches<Host>> batches(new data::Batches<Host>(loader.to(device)));
    auto batch = batches->begin();
    ++batch;
    let_threads_sleep();
    CHECK(in_child([&] {
            if (error_of([&] { ++batch; }) != message) return 1;
            if (count(*batches) != 32) return 2;
            batches.reset();
            return 0;
          }) == 0);
    CHECK(in_child([&] {
            batches.reset();  // in the middle of the epoch
            return 0;
          }) == 0);
    int rest = 0;
    for (; batch != batches->end(); ++batch)
      ++rest;
    CHECK(rest == 31);
  }
}

}  // namespace
