// Bodies of host.hpp.
#pragma once

#include <algorithm>
#include <cstdio>
#include <exception>
#include <sched.h>
#include <thread>
#include <unistd.h>

#include <gpunet/core/launch.hpp>
#include <gpunet/device/host/flush_subnormals.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/device/host/thread_pool.hpp>

namespace gpunet {

namespace detail {

// Returns the default number of threads: one for each processor that this process may use.
// Processes that were launched together on a machine share its processors, unless the launcher has
// given each its own; if some are unused then, a line on stderr says so once.
GPUNET_INLINE int default_threads() {
  const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const gpunet::Launch launch = launch_of_process();
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) < all) {
    const int bound = CPU_COUNT(&allowed);
    [[maybe_unused]] static const bool is_said = [&] {
      const std::string text = unused_processors(launch, bound, all);
      return !text.empty() && std::fprintf(stderr, "%s\n", text.c_str()) > 0;
    }();
    return bound;
  }
#endif
  return std::max(1, static_cast<int>(all / launch.local_world_size));
}

GPUNET_INLINE std::unique_ptr<ThreadPool> make_pool(const HostOptions& options) {
  constexpr int most = 1024;
  require(options.threads >= 0 && options.threads <= most, "gpunet::Host: ", options.threads,
          " threads (want 1 to ", most, ", or 0 for one per processor)");
  require(!options.executor || options.threads == 0, "gpunet::Host: both an executor and ",
          options.threads, " threads (the executor knows how many it has), leave out one of them");
  if (options.executor) return nullptr;
  return std::make_unique<ThreadPool>(options.threads > 0 ? options.threads : default_threads());
}

// A call of run() that has the threads: exceptions of its tasks are caught, so that an Executor
// never sees them.
struct HostRound {
  ParallelTask task;
  std::atomic<bool> failed{false};
  std::exception_ptr error{};

  void operator()(index_t i, int worker) {
    if (failed.load(std::memory_order_relaxed)) return;
    const detail::FlushSubnormals flush;
    detail::attempt([&] { task(i, worker); },
                    [&] {
                      if (!failed.exchange(true)) error = std::current_exception();
                    });
  }
};

}  // namespace detail

GPUNET_INLINE Host::Host(HostOptions options)
    : pool_(detail::make_pool(options)),
      executor_(options.executor ? *options.executor : *pool_),
      precision_(options.precision) {
  require(threads() >= 1, "gpunet::Host: the executor has ", threads(),
          " threads (want 1 or more)");
}

GPUNET_INLINE Host::~Host() = default;

GPUNET_INLINE void Host::run_tasks(bool shared, index_t tasks, ParallelTask task) {
  if (shared && tasks > 1 && threads() > 1 && !busy_.exchange(true, std::memory_order_acquire))
    return share(tasks, task);
  const detail::FlushSubnormals flush;
  for (index_t i = 0; i < tasks; ++i)
    task(i, 0);
}

GPUNET_INLINE void Host::share(index_t tasks, ParallelTask task) {
  struct Release {
    std::atomic<bool>& busy;
    ~Release() { busy.store(false, std::memory_order_release); }
  } release{busy_};
  detail::HostRound round{task};
  executor_.run(tasks, {[](void* context, index_t i, int worker) {
                          (*static_cast<detail::HostRound*>(context))(i, worker);
                        },
                        &round});
  if (round.error) std::rethrow_exception(round.error);
}

GPUNET_INLINE std::string free_memory_text(const Host&) {
  return concat("; ", std::int64_t{::sysconf(_SC_AVPHYS_PAGES)} * ::sysconf(_SC_PAGESIZE),
                " bytes free");
}

}  // namespace gpunet
