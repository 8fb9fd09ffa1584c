// Executors: threads that a program lends to a Host.
#pragma once

#include <gpunet/core/config.hpp>

namespace gpunet {

// Work in numbered pieces: call(i) for every i, each once, in any order.
struct ParallelTask {
  void (*function)(void* context, index_t i, int worker);
  void* context;
  void operator()(index_t i, int worker) const { function(context, i, worker); }
};

// Threads that a program lends to a Host: Host device({.executor = &mine}). An Executor outlives
// the Hosts that use it.
class Executor {
 public:
  // Returns the largest number of tasks at a time, the thread that calls run() included; 1 or more,
  // always the same.
  virtual int threads() const = 0;

  // Calls task(i, worker) once for every i < tasks and returns when all calls have.
  // worker < threads() is not used by two calls at a time. A task throws nothing and waits for no
  // other one. A Host calls by one thread at a time, and never from a task; several Hosts that
  // share an Executor may call at the same time.
  virtual void run(index_t tasks, ParallelTask task) = 0;

 protected:
  ~Executor() = default;
};

}  // namespace gpunet
