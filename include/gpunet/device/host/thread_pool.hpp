// The threads of a Host that is not given any; host.hpp has their number.
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
#include <gpunet/core/owner_process.hpp>
#include <gpunet/device/host/executor.hpp>

namespace gpunet::detail {

// Waits for something that another thread is about to do: for some microseconds at full speed, then
// giving way to other threads; after that sleeping is cheaper.
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

// A fixed number of threads that share numbered tasks. The caller works along as worker 0; the
// others wait for the next run, awake for a moment, then asleep. Each worker begins with tasks of
// its own, the same ones for the same number of tasks, so that the contents of its cache serve
// again; then it helps the others. In a child of fork(), which has no threads but the caller's, the
// caller runs all tasks: nothing waits for the others.
class ThreadPool final : public Executor {
 public:
  explicit ThreadPool(int threads) : open_(static_cast<std::size_t>(threads)) {
    const auto start = [&] {
      for (int worker = 1; worker < threads; ++worker)
        threads_.emplace_back([this, worker] { serve(worker); });
    };
    const auto explain = [&](const std::system_error& e) {
      throw_error(Error(concat("gpunet::Host: the system gives only ", threads_.size() + 1, " of ",
                               threads, " threads (", e.what(), "), ask for fewer")));
    };
    attempt([&] { attempt<std::system_error>(start, explain); },
            [&] {
              stop();
              rethrow();
            });
  }
  ~ThreadPool() {
    if (owner_.is_this())
      stop();
    else
      forget_threads();
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const override { return static_cast<int>(open_.size()); }

  void run(index_t tasks, ParallelTask task) override {
    constexpr index_t most = std::numeric_limits<std::uint32_t>::max();
    for (; tasks > most; tasks -= most, offset_ += most)
      run_round(most, task);
    run_round(tasks, task);
    offset_ = 0;
  }

 private:
  // Tasks of a round that nobody has begun: `next` to `end`, both in one word, so that one
  // operation takes a task. Who has taken one may read task_ and offset_, which do not change
  // before all tasks are done.
  struct alignas(64) Open {
    std::atomic<std::uint64_t> word{0};

    static index_t next(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
    static index_t end(std::uint64_t word) { return static_cast<index_t>(word >> 32); }

    void offer(index_t first, index_t last) {
      word.store(static_cast<std::uint64_t>(last) << 32 | static_cast<std::uint64_t>(first),
                 std::memory_order_release);
    }
    // The number of a task, or -1 if there are none left.
    index_t take() {
      std::uint64_t now = word.load(std::memory_order_acquire);
      while (next(now) < end(now))
        if (word.compare_exchange_weak(now, now + 1, std::memory_order_acquire)) return next(now);
      return -1;
    }
  };

  void run_round(index_t tasks, ParallelTask task) {
    task_ = task;
    tasks_.store(tasks, std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    for (index_t worker = 0; worker < threads(); ++worker)
      open_[static_cast<std::size_t>(worker)].offer(worker * tasks / threads(),
                                                    (worker + 1) * tasks / threads());
    round_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0 && owner_.is_this()) {
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

  // Runs tasks until there are none: first the worker's own, then the next worker's, and so on.
  void work(int worker) {
    const int workers = static_cast<int>(open_.size());
    for (int i = 0; i < workers; ++i) {
      Open& open = open_[static_cast<std::size_t>((worker + i) % workers)];
      for (index_t task; (task = open.take()) >= 0;)
        run_task(task, worker);
    }
  }

  void run_task(index_t i, int worker) {
    const index_t tasks = tasks_.load(std::memory_order_relaxed);
    task_(offset_ + i, worker);
    // Afterwards this round may be over: its members are not to be touched.
    if (done_.fetch_add(1, std::memory_order_seq_cst) + 1 != tasks) return;
    if (!caller_sleeps_.load(std::memory_order_seq_cst)) return;
    const std::lock_guard lock(mutex_);
    finished_.notify_one();
  }

  void serve(int worker) {
    std::uint64_t seen = 0;
    const auto called = [&] {
      return round_.load(std::memory_order_seq_cst) != seen ||
             stopping_.load(std::memory_order_relaxed);
    };
    for (;;) {
      if (!spin_until(called)) {
        std::unique_lock lock(mutex_);
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        wake_.wait(lock, called);
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
      }
      if (stopping_.load(std::memory_order_relaxed)) return;
      seen = round_.load(std::memory_order_acquire);
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

  void forget_threads() {
    forget(mutex_);
    forget(wake_);
    forget(finished_);
    for (auto& thread : threads_)
      forget(thread);
  }

  OwnerProcess owner_;
  std::mutex mutex_;
  std::condition_variable wake_, finished_;
  std::vector<Open> open_;  // of each worker
  std::atomic<std::uint64_t> round_{0};
  std::atomic<index_t> tasks_{0}, done_{0};  // of this round
  std::atomic<int> sleepers_{0};
  std::atomic<bool> caller_sleeps_{false}, stopping_{false};
  ParallelTask task_{};
  index_t offset_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace gpunet::detail
