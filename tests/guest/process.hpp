// Counts the threads, open files and memory of this process, and lists its signal handlers. Linux.
#pragma once

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

namespace guest {

inline std::size_t entries(const char* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}
// A thread that was joined may stay listed for a moment: its end is awaited for 5 seconds.
inline std::size_t threads_after_wait(std::size_t want) {
  for (int i = 0; i < 5000 && entries("/proc/self/task") != want; ++i)
    ::usleep(1000);
  return entries("/proc/self/task");
}
inline std::size_t open_files() {
  return entries("/proc/self/fd") - 1;  // without the one of the listing
}

// The handler of each signal, as a number.
inline std::vector<std::size_t> signal_handlers() {
  std::vector<std::size_t> handlers;
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    handlers.push_back(reinterpret_cast<std::size_t>(action.sa_handler));
  }
  return handlers;
}

// Memory of the process in the machine, in bytes.
inline std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace guest
