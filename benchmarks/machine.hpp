// Information about this machine and this process.
#pragma once

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <set>
#include <string>
#include <vector>

#include <gpunet/core/error.hpp>

namespace bench {

// Returns the text after "key :" or "key:" in a file of such lines; empty if there is none.
inline std::string field_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const auto start = line.find_first_not_of(" \t:", key.size());
    return start == line.npos ? "" : line.substr(start);
  }
  return {};
}

inline std::string processor_name() {
  const std::string name = field_of("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown processor" : name;
}

// Returns the compiler and its version.
inline std::string compiler() {
#if defined(__clang__)
  return "clang++ " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

// Returns the date as year-month-day.
inline std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::localtime(&now));
  return text;
}

// Returns one processor number for each core that this process may use, the last first: systems run
// their own work on the first.
inline std::vector<int> usable_cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {0};
  std::vector<int> cores;
  std::set<std::string> seen;
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu) {
    if (!CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) continue;
    std::ifstream file(
        gpunet::concat("/sys/devices/system/cpu/cpu", cpu, "/topology/thread_siblings_list"));
    std::string siblings = gpunet::concat("cpu", cpu);
    std::getline(file, siblings);
    if (seen.insert(siblings).second) cores.push_back(cpu);
  }
  return cores;
}

// Binds each thread of this process to a processor of its own, so that the system does not run two
// of them on one while another is idle.
inline void pin_threads() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  std::size_t cpu = CPU_SETSIZE - 1;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    do
      cpu = (cpu + 1) % CPU_SETSIZE;
    while (!CPU_ISSET(cpu, &allowed));
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(cpu, &own);
    sched_setaffinity(std::stoi(thread.path().filename()), sizeof own, &own);
  }
}

// Returns the peak memory of this process, in MB (10^6 bytes).
inline double peak_memory() {
  const std::string kilobytes = field_of("/proc/self/status", "VmHWM");
  return kilobytes.empty() ? 0 : std::stod(kilobytes) * 1024 / 1e6;
}

// Restarts peak_memory() from the current value, if the system supports that.
inline void reset_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace bench
