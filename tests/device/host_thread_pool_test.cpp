#include <atomic>
#include <doctest/doctest.h>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gpunet/device/host/thread_pool.hpp>

using namespace gpunet;

TEST_CASE("every task runs once, on a worker of the pool") {
  for (int threads : {1, 2, 3, 7}) {
    detail::ThreadPool pool(threads);
    CHECK(pool.size() == threads);
    for (index_t tasks : {0, 1, 2, 3, 10, 1000}) {
      CAPTURE(threads);
      CAPTURE(tasks);
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
      std::atomic<int> strangers = 0;
      pool.run(tasks, [&](index_t i, int worker) {
        ++runs[static_cast<std::size_t>(i)];
        if (worker < 0 || worker >= threads) ++strangers;
      });
      CHECK(strangers == 0);
      for (const auto& count : runs)
        if (count != 1) FAIL_CHECK("a task ran ", count.load(), " times");
    }
  }
}

TEST_CASE("a worker runs one task at a time") {
  constexpr int threads = 3;
  detail::ThreadPool pool(threads);
  std::atomic<int> inside[threads] = {};
  std::atomic<int> clashes = 0;
  pool.run(500, [&](index_t, int worker) {
    if (++inside[worker] != 1) ++clashes;
    std::this_thread::yield();
    --inside[worker];
  });
  CHECK(clashes == 0);
}

TEST_CASE("what tasks wrote is there after each of many rounds") {
  detail::ThreadPool pool(3);
  std::vector<index_t> values(8, 0);
  for (int round = 0; round < 3000; ++round)
    pool.run(8, [&](index_t i, int) { values[static_cast<std::size_t>(i)] += i; });
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(values[i] == 3000 * static_cast<index_t>(i));
}

TEST_CASE("an exception reaches the caller and the pool goes on working") {
  for (int threads : {1, 3}) {
    detail::ThreadPool pool(threads);
    for (int round = 0; round < 50; ++round) {
      const auto work = [&] {
        pool.run(100, [](index_t i, int) {
          if (i == 20) throw std::out_of_range("task 20");
        });
      };
      CHECK_THROWS_WITH_AS(work(), "task 20", std::out_of_range);
      std::atomic<int> runs = 0;
      pool.run(10, [&](index_t, int) { ++runs; });
      CHECK(runs == 10);
    }
  }
}

TEST_CASE("of several exceptions one arrives") {
  detail::ThreadPool pool(3);
  std::atomic<int> started = 0;
  const auto work = [&] {
    pool.run(1000, [&](index_t, int) {
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
    detail::ThreadPool pool(threads);
    std::vector<index_t> sums(20, 0);
    pool.run(20, [&](index_t i, int) {
      pool.run(10, [&](index_t j, int worker) {
        sums[static_cast<std::size_t>(i)] += j;
        if (worker != 0) sums[static_cast<std::size_t>(i)] = -1000;
      });
    });
    CHECK(sums == std::vector<index_t>(20, 45));
  }
}

TEST_CASE("an exception of an inner run reaches the outer caller") {
  detail::ThreadPool pool(2);
  const auto work = [&] {
    pool.run(4, [&](index_t, int) { pool.run(4, [](index_t, int) { throw Error("inner"); }); });
  };
  CHECK_THROWS_WITH_AS(work(), "inner", Error);
}

TEST_CASE("two callers share a pool: one has the threads, the other works alone") {
  detail::ThreadPool pool(2);
  const auto add_up = [&pool](index_t& total, int& errors) {
    for (int round = 0; round < 300; ++round) {
      std::atomic<index_t> sum = 0;
      pool.run(10, [&](index_t i, int) { sum += i; });
      total += sum;
      try {
        pool.run(3, [](index_t, int) { throw Error("again"); });
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

TEST_CASE("pools come and go without work") {
  for (int i = 0; i < 50; ++i)
    detail::ThreadPool pool(1 + i % 4);
  CHECK(true);
}
