#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include <gpunet/device/host/thread_pool.hpp>

using namespace gpunet;

namespace {

// Runs f(i, worker) on a pool.
template <class F>
void run(detail::ThreadPool& pool, index_t tasks, F f) {
  pool.run(
      tasks,
      {[](void* context, index_t i, int worker) { (*static_cast<F*>(context))(i, worker); }, &f});
}

}  // namespace

TEST_CASE("every task runs once, on a worker of the pool") {
  for (int threads : {1, 2, 3, 7}) {
    detail::ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    for (index_t tasks : {0, 1, 2, 3, 10, 1000}) {
      CAPTURE(threads);
      CAPTURE(tasks);
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
      std::atomic<int> strangers = 0;
      run(pool, tasks, [&](index_t i, int worker) {
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
  run(pool, 500, [&](index_t, int worker) {
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
    run(pool, 8, [&](index_t i, int) { values[static_cast<std::size_t>(i)] += i; });
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(values[i] == 3000 * static_cast<index_t>(i));
}

TEST_CASE("workers that have gone to sleep wake up, and so does a caller that waited long") {
  detail::ThreadPool pool(3);
  std::atomic<int> sum = 0;
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    run(pool, 3, [&](index_t i, int) {
      if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++sum;
    });
  }
  CHECK(sum == 60);
}

TEST_CASE("pools come and go without work") {
  for (int i = 0; i < 50; ++i)
    detail::ThreadPool pool(1 + i % 4);
  CHECK(true);
}
