// The Host policy: this processor.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include <gpunet/device/device.hpp>
#include <gpunet/device/host/lent_memory.hpp>
#include <gpunet/device/host/thread_pool.hpp>

namespace gpunet {

// How a Host is made. threads: how many work at a time, the caller included; 0 takes one per processor.
struct HostOptions {
  int threads = 0;
};

// The processor as a device: memory from operator new, work done by the calling thread and the threads that it
// owns.
class Host {
 public:
  static constexpr std::size_t alignment = detail::host_alignment;

  Host() : Host(HostOptions{}) {}
  explicit Host(HostOptions options) : pool_(checked_threads(options.threads)) {}

  std::string name() const { return "cpu"; }
  int threads() const { return pool_.size(); }

  void* allocate(std::size_t bytes) { return detail::allocate_on_host(bytes); }
  void deallocate(void* p, std::size_t) noexcept { detail::deallocate_on_host(p); }
  void upload(void* target, const void* source, std::size_t bytes) { move(target, source, bytes); }
  void download(void* target, const void* source, std::size_t bytes) { move(target, source, bytes); }
  void copy(void* target, const void* source, std::size_t bytes) { move(target, source, bytes); }
  void synchronize() {}

  // Calls task(i, worker) for i < tasks on all threads, worker < threads(); see ThreadPool::run.
  template <class Task>
  void run(index_t tasks, Task&& task) {
    pool_.run(tasks, task);
  }

  // Working memory that lasts from call to call: detail::LentMemory::Loan loan(device.working_memory(), bytes).
  detail::LentMemory& working_memory() { return working_memory_; }

 private:
  // Null pointers are fine where there is nothing to copy; memcpy does not want them.
  static void move(void* target, const void* source, std::size_t bytes) {
    if (bytes > 0) std::memcpy(target, source, bytes);
  }
  static int checked_threads(int threads) {
    constexpr int most = 1024;
    require(threads >= 0 && threads <= most, "gpunet::Host: ", threads, " threads (want 1 to ", most,
            ", or 0 for one per processor)");
    return threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  }

  detail::ThreadPool pool_;
  detail::LentMemory working_memory_;
};

static_assert(Device<Host>);

}  // namespace gpunet
