// The main loop of a worker process: it creates a benchmark and executes the commands on its input.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include "jobs.hpp"
#include "limits.hpp"
#include "machine.hpp"

namespace bench {

// Returns the benchmark of that name: a job, "peak", or "copy:BYTES".
inline std::unique_ptr<Work> make_work(const std::string& name, Host& device) {
  if (name == "peak") return std::make_unique<PeakWork>(device);
  if (name.rfind("copy:", 0) == 0)
    return std::make_unique<CopyWork>(device, std::stoll(name.substr(5)));
  return find_job(name).make(device);
}

// Returns the milliseconds of the steps, run as trainings of at most a thousand. Two steps before
// each training are not timed: they allocate memory and warm the caches.
inline double run_trainings(Work& work, index_t steps) {
  double total = 0;
  while (steps > 0) {
    const index_t part = std::min<index_t>(steps, 1000);
    work.start();
    work.run(2);
    total += work.time(part);
    steps -= part;
  }
  return total;
}

// The conversation with the driver, one line each; opponent.py speaks the same, but is told the job
// by "start JOB" and goes on to the next after "end".
//   start   -> "MB by which the peak of memory grew, MB of the whole process, value after three
//              steps"
//   run N   -> "milliseconds of N steps"
//
// `Memory` has reset(), peak() since then, and most(), of the whole process; all in MB.
template <class Memory>
void serve(Work& work, Memory memory) {
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "start") {
      memory.reset();
      const double before = memory.peak();
      work.start();
      work.run(3);
      std::printf("%.3f %.1f %.9g\n", memory.peak() - before, memory.most(), work.value());
    } else {
      std::printf("%.9g\n", run_trainings(work, std::stoll(line.substr(4))));
    }
    std::fflush(stdout);
  }
}

struct ProcessMemory {
  void reset() const { reset_peak_memory(); }
  double peak() const { return peak_memory(); }
  double most() const { return peak_memory(); }
};

// On Host.
inline void serve(const std::string& name, int threads) {
  Host device({.threads = threads});
  pin_threads();
  serve(*make_work(name, device), ProcessMemory());
}

}  // namespace bench
