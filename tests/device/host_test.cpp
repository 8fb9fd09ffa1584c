#include <atomic>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

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
                       "gpunet::Host: -1 threads (want 1 to 1024, or 0 for one per processor)",
                       Error);
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
  // More than any address space.
  const std::size_t half = std::numeric_limits<std::size_t>::max() / 4;
  std::string message;
  try {
    host.deallocate(host.allocate(half), half);
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message ==
        concat("gpunet::Host: no memory for ", half, " bytes, use a smaller batch or network"));
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

TEST_CASE("an exception reaches the caller and the host goes on working") {
  for (int threads : {1, 3}) {
    Host host({.threads = threads});
    for (int round = 0; round < 50; ++round) {
      const auto work = [&] {
        host.run(100, [](index_t i, int) {
          if (i == 20) throw std::out_of_range("task 20");
        });
      };
      CHECK_THROWS_WITH_AS(work(), "task 20", std::out_of_range);
      std::atomic<int> runs = 0;
      host.run(10, [&](index_t, int) { ++runs; });
      CHECK(runs == 10);
    }
  }
}

TEST_CASE("of several exceptions one arrives") {
  Host host({.threads = 3});
  std::atomic<int> started = 0;
  const auto work = [&] {
    host.run(1000, [&](index_t, int) {
      ++started;
      throw Error("no");
    });
  };
  CHECK_THROWS_WITH_AS(work(), "no", Error);
  CHECK(started >= 1);
  CHECK(started <= 3);  // each worker stops at its first
}

TEST_CASE("a task may run tasks of its own") {
  for (int threads : {1, 2, 3}) {
    Host host({.threads = threads});
    std::vector<index_t> sums(20, 0);
    host.run(20, [&](index_t i, int) {
      host.run(10, [&](index_t j, int worker) {
        sums[static_cast<std::size_t>(i)] += j;
        if (worker != 0) sums[static_cast<std::size_t>(i)] = -1000;
      });
    });
    CHECK(sums == std::vector<index_t>(20, 45));
  }
}

TEST_CASE("tasks that are not to be shared run here, in order, and may share work of their own") {
  Host host({.threads = 3});
  std::vector<index_t> order;
  std::vector<int> runs(100, 0);
  host.run_if(false, 10, [&](index_t i, int worker) {
    CHECK(worker == 0);
    order.push_back(i);
    host.run(10, [&](index_t j, int) { ++runs[static_cast<std::size_t>(10 * i + j)]; });
  });
  CHECK(order == std::vector<index_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(runs == std::vector<int>(100, 1));
  host.run_if(true, 100, [&](index_t i, int) { ++runs[static_cast<std::size_t>(i)]; });
  CHECK(runs == std::vector<int>(100, 2));
}

TEST_CASE("an exception of an inner run reaches the outer caller") {
  Host host({.threads = 2});
  const auto work = [&] {
    host.run(4, [&](index_t, int) { host.run(4, [](index_t, int) { throw Error("inner"); }); });
  };
  CHECK_THROWS_WITH_AS(work(), "inner", Error);
}

TEST_CASE("two callers share a host: one has the threads, the other works alone") {
  Host host({.threads = 2});
  const auto add_up = [&host](index_t& total, int& errors) {
    for (int round = 0; round < 300; ++round) {
      std::atomic<index_t> sum = 0;
      host.run(10, [&](index_t i, int) { sum += i; });
      total += sum;
      try {
        host.run(3, [](index_t, int) { throw Error("again"); });
      } catch (const Error&) {
        ++errors;
      }
    }
  };
  index_t totals[2] = {};
  int errors[2] = {};
  std::thread other([&] { add_up(totals[1], errors[1]); });
  add_up(totals[0], errors[0]);
  other.join();
  CHECK(totals[0] == 300 * 45);
  CHECK(totals[1] == 300 * 45);
  CHECK(errors[0] == 300);
  CHECK(errors[1] == 300);
}

namespace {

// An executor of the test: the caller does everything, and counts.
struct Alone : Executor {
  int threads() const override { return workers; }
  void run(index_t tasks, ParallelTask task) override {
    ++rounds;
    for (index_t i = tasks; i-- > 0;)  // any order is allowed
      task(i, static_cast<int>(i) % workers);
  }
  int workers = 2, rounds = 0;
};

}  // namespace

TEST_CASE("a program lends its threads to a host") {
  Alone executor;
  Host host({.executor = &executor});
  CHECK(host.threads() == 2);
  std::vector<int> workers(5, -1);
  host.run(5, [&](index_t i, int worker) { workers[static_cast<std::size_t>(i)] = worker; });
  CHECK(workers == std::vector<int>{0, 1, 0, 1, 0});
  CHECK(executor.rounds == 1);

  int begun = 0;
  const auto fail = [&] {
    host.run(5, [&](index_t, int) {
      ++begun;
      throw std::out_of_range("a task");
    });
  };
  CHECK_THROWS_WITH_AS(fail(), "a task", std::out_of_range);
  CHECK(begun == 1);
  host.run(3, [&](index_t, int) { ++begun; });  // it goes on working
  CHECK(begun == 4);
}

TEST_CASE("executors that make no sense") {
  Alone executor;
  CHECK_THROWS_WITH_AS(Host({.threads = 3, .executor = &executor}),
                       "gpunet::Host: both an executor and 3 threads (the executor knows how many "
                       "it has), leave out "
                       "one of them",
                       Error);
  executor.workers = 0;
  CHECK_THROWS_WITH_AS(Host({.executor = &executor}),
                       "gpunet::Host: the executor has 0 threads (want 1 or more)", Error);
}
