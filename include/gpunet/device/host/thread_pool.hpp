// The threads behind a Host device.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/device/host/flush_subnormals.hpp>

namespace gpunet::detail {

// A fixed number of threads that share numbered tasks. The caller works along as worker 0; the others sleep between
// runs.
class ThreadPool {
 public:
  explicit ThreadPool(int threads) {
    try {
      for (int worker = 1; worker < threads; ++worker)
        threads_.emplace_back([this, worker] { serve(worker); });
    } catch (const std::system_error& e) {
      const int got = size();
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

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls task(i, worker) for every i < tasks, each once, in any order; returns when all are done. The first
  // exception of a task is thrown here, after the running ones have ended. Called from inside a task, it runs
  // everything itself. Tasks flush subnormal numbers.
  template <class Task>
  void run(index_t tasks, Task&& task) {
    using T = std::remove_reference_t<Task>;
    call_each(
        tasks, [](void* context, index_t i, int worker) { (*static_cast<T*>(context))(i, worker); },
        const_cast<void*>(static_cast<const void*>(std::addressof(task))));
  }

 private:
  using Call = void (*)(void* context, index_t i, int worker);

  void call_each(index_t tasks, Call call, void* context) {
    const FlushSubnormals flush;
    const bool alone = threads_.empty() || tasks < 2 || busy_.exchange(true, std::memory_order_acquire);
    if (alone) {
      for (index_t i = 0; i < tasks; ++i)
        call(context, i, 0);
      return;
    }
    call_ = call;
    context_ = context;
    share(tasks);
    const std::exception_ptr error = std::exchange(error_, nullptr);  // before the next caller may come in
    busy_.store(false, std::memory_order_release);
    if (error) std::rethrow_exception(error);
  }

  void share(index_t tasks) {
    {
      const std::lock_guard lock(mutex_);
      tasks_ = tasks;
      next_.store(0, std::memory_order_relaxed);
      working_ = static_cast<int>(threads_.size());
      ++round_;
    }
    wake_.notify_all();
    work(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return working_ == 0; });
  }

  void work(int worker) {
    try {
      for (index_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < tasks_;)
        call_(context_, i, worker);
    } catch (...) {
      next_.store(tasks_, std::memory_order_relaxed);
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  void serve(int worker) {
    const FlushSubnormals flush;
    std::uint64_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return round_ != seen || stopping_; });
        if (stopping_) return;
        seen = round_;
      }
      work(worker);
      const std::lock_guard lock(mutex_);
      if (--working_ == 0) done_.notify_one();
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_)
      thread.join();
    threads_.clear();
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::atomic<bool> busy_{false};
  std::atomic<index_t> next_{0};
  index_t tasks_ = 0;
  int working_ = 0;
  std::uint64_t round_ = 0;
  bool stopping_ = false;
  std::exception_ptr error_;
  Call call_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace gpunet::detail
