// The threads of a Host that is not given any.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/device/host/executor.hpp>

namespace gpunet::detail {

// Waits for something that another thread is about to do: for some microseconds at full speed, then giving way to other
// threads; after that sleeping is cheaper.
template <class Condition>
bool spin_until(Condition condition) {
  using Clock = std::chrono::steady_clock;
  constexpr auto eager = std::chrono::microseconds(10), patient = std::chrono::microseconds(100);
  const auto start = Clock::now();
  for (auto waited = Clock::duration::zero(); waited < patient; waited = Clock::now() - start) {
    for (int i = 0; i < 16; ++i) {
      if (condition()) return true;
#if GPUNET_X86
      __builtin_ia32_pause();
#endif
    }
    if (waited > eager) std::this_thread::yield();
  }
  return condition();
}

// A fixed number of threads that share numbered tasks. The caller works along as worker 0; the others wait for the next
// run, awake for a moment, then asleep.
class ThreadPool final : public Executor {
 public:
  explicit ThreadPool(int threads) {
    try {
      for (int worker = 1; worker < threads; ++worker)
        threads_.emplace_back([this, worker] { serve(worker); });
    } catch (const std::system_error& e) {
      const int got = this->threads();
      stop();
      throw Error(concat("gpunet::Host: the system gives only ", got, " of ", threads, " threads (", e.what(),
                         "), ask for fewer"));
    } catch (...) {
      stop();
      throw;
    }
  }
  ~ThreadPool() { stop(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const override { return static_cast<int>(threads_.size()) + 1; }

  void run(index_t tasks, ParallelTask task) override {
    constexpr index_t most = std::numeric_limits<std::uint32_t>::max();
    for (; tasks > most; tasks -= most, offset_ += most)
      run_round(static_cast<std::uint32_t>(most), task);
    run_round(static_cast<std::uint32_t>(tasks), task);
    offset_ = 0;
  }

 private:
  // The tasks of a round that nobody has begun: `next` to `end`, both in one word, so that one operation takes a task. Who
  // has taken one may read the members below, which do not change before all tasks are done.
  struct Open {
    std::uint64_t word;
    std::uint32_t next() const { return static_cast<std::uint32_t>(word); }
    std::uint32_t end() const { return static_cast<std::uint32_t>(word >> 32); }
    bool any() const { return next() < end(); }
  };

  void run_round(std::uint32_t tasks, ParallelTask task) {
    task_ = task;
    done_.store(0, std::memory_order_relaxed);
    open_.store(std::uint64_t{tasks} << 32, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0) {
      const std::lock_guard lock(mutex_);
      wake_.notify_all();
    }
    work(0);
    if (spin_until([&] { return done_.load(std::memory_order_acquire) == tasks; })) return;
    std::unique_lock lock(mutex_);
    caller_sleeps_.store(true, std::memory_order_seq_cst);
    finished_.wait(lock, [&] { return done_.load(std::memory_order_seq_cst) == tasks; });
    caller_sleeps_.store(false, std::memory_order_relaxed);
  }

  // Takes tasks until there are none.
  void work(int worker) {
    std::uint64_t word = open_.load(std::memory_order_acquire);
    while (Open{word}.any()) {
      if (!open_.compare_exchange_weak(word, word + 1, std::memory_order_acquire)) continue;
      const Open taken{word};
      task_(offset_ + taken.next(), worker);
      // Afterwards this round may be over: its members are not to be touched.
      const bool last = done_.fetch_add(1, std::memory_order_seq_cst) + 1 == taken.end();
      if (last && caller_sleeps_.load(std::memory_order_seq_cst)) {
        const std::lock_guard lock(mutex_);
        finished_.notify_one();
      }
      word = open_.load(std::memory_order_acquire);
    }
  }

  void serve(int worker) {
    const auto called = [this] {
      return Open{open_.load(std::memory_order_seq_cst)}.any() || stopping_.load(std::memory_order_relaxed);
    };
    for (;;) {
      if (!spin_until(called)) {
        std::unique_lock lock(mutex_);
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        wake_.wait(lock, called);
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
      }
      if (stopping_.load(std::memory_order_relaxed)) return;
      work(worker);
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_.store(true, std::memory_order_relaxed);
    }
    wake_.notify_all();
    for (auto& thread : threads_)
      thread.join();
    threads_.clear();
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, finished_;
  std::atomic<std::uint64_t> open_{0};
  std::atomic<std::uint32_t> done_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> caller_sleeps_{false}, stopping_{false};
  ParallelTask task_{};
  index_t offset_ = 0;
};

}  // namespace gpunet::detail
