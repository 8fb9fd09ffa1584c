// The Host policy: this processor.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

#include <gpunet/core/error.hpp>
#include <gpunet/device/device.hpp>
#include <gpunet/device/host/executor.hpp>
#include <gpunet/device/host/lent_memory.hpp>
#include <gpunet/device/host/memory_cache.hpp>

namespace gpunet {

namespace detail {
class ThreadPool;
}

// Options of a Host.
struct HostOptions {
  // The number of threads, the caller included; 0 takes one per processor, divided by the number of
  // processes that were launched together on this machine (see Launch).
  int threads = 0;
  // Threads of the program to use instead of own ones; `threads` is to be 0 then.
  Executor* executor = nullptr;
  // exact: without Winograd's convolution, which rounds more and spreads infinities and NaN (see
  // Precision).
  Precision precision = Precision::fast;
};

// The processor as a device: memory from operator new, work done by the calling thread and by
// threads of its own or of an Executor.
class Host {
 public:
  // Alignment of its memory, in bytes.
  static constexpr std::size_t alignment = detail::host_alignment;

  Host() : Host(HostOptions{}) {}
  explicit Host(HostOptions options);
  ~Host();

  std::string name() const { return "cpu"; }
  int threads() const { return executor_.threads(); }
  Precision precision() const { return precision_; }

  void* allocate(std::size_t bytes) { return memory_.allocate(bytes); }
  void deallocate(void* p, std::size_t bytes) noexcept { memory_.deallocate(p, bytes); }
  void upload(void* target, const void* source, std::size_t bytes) { move(target, source, bytes); }
  void download(void* target, const void* source, std::size_t bytes) {
    move(target, source, bytes);
  }
  void copy(void* target, const void* source, std::size_t bytes) { move(target, source, bytes); }
  void synchronize() {}

  // Memory of a GPU in use, for programs that ask any device: none.
  std::size_t memory_allocated() const { return 0; }
  std::size_t memory_reserved() const { return 0; }

  // Calls task(i, worker) for every i < tasks, each once, in any order; returns when all are done.
  // No two calls at a time have the same worker < threads(). The first exception of a task is
  // thrown here, after the running ones have ended; tasks not yet begun are dropped. Called from
  // inside a task, or while another thread's call is under way, it runs everything itself. Tasks
  // flush subnormal numbers to 0.
  template <class Task>
  void run(index_t tasks, Task&& task) {
    run_if(true, tasks, task);
  }

  // The same if `shared`; else all tasks run here, in order, and may share work of their own.
  template <class Task>
  void run_if(bool shared, index_t tasks, Task&& task) {
    using T = std::remove_reference_t<Task>;
    const auto call = [](void* context, index_t i, int worker) {
      (*static_cast<T*>(context))(i, worker);
    };
    run_tasks(shared, tasks,
              {call, const_cast<void*>(static_cast<const void*>(std::addressof(task)))});
  }

  // Working memory that lasts from call to call: detail::LentMemory::Loan
  // loan(device.working_memory(), bytes).
  detail::LentMemory& working_memory() { return working_memory_; }

 private:
  // Null pointers are fine where there is nothing to copy; memcpy does not want them.
  static void move(void* target, const void* source, std::size_t bytes) {
    if (bytes > 0) std::memcpy(target, source, bytes);
  }
  void run_tasks(bool shared, index_t tasks, ParallelTask task);
  // Runs the tasks on all threads.
  void share(index_t tasks, ParallelTask task);

  std::unique_ptr<detail::ThreadPool> pool_;
  Executor& executor_;
  std::atomic<bool> busy_{false};
  Precision precision_;
  detail::LentMemory working_memory_;
  detail::HostMemoryCache memory_;
};

// Copies bytes from one Host to another or the same.
inline void transfer(Host&, const void* source, Host& to, void* target, std::size_t bytes) {
  to.copy(target, source, bytes);
}

// Returns the end of an error message about memory: the free bytes.
std::string free_memory_text(const Host&);

static_assert(Device<Host>);

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/device/host/host.ipp>
#endif
