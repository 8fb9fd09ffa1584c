// What the system tells about this machine and this process.
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

// The text behind "key :" or "key:" in a file of such lines; empty if there is none.
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

// What this program was compiled with.
inline std::string compiler() {
#if defined(__clang__)
  return "clang++ " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

// Year-month-day.
inline std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::localtime(&now));
  return text;
}

// One processor number for each core that this process may use, the last first: systems do their own work on the
// first.
inline std::vector<int> usable_cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {0};
  std::vector<int> cores;
  std::set<std::string> seen;
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    std::ifstream file(gpunet::concat("/sys/devices/system/cpu/cpu", cpu, "/topology/thread_siblings_list"));
    std::string siblings = gpunet::concat("cpu", cpu);
    std::getline(file, siblings);
    if (seen.insert(siblings).second) cores.push_back(cpu);
  }
  return cores;
}

// Gives each thread of this process a processor of its own among those that it may use, so that the system does not
// let two of them share one while another is idle.
inline void pin_threads() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int cpu = -1;
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

// The most memory that this process has used, in MB (10^6 bytes).
inline double peak_memory() {
  const std::string kilobytes = field_of("/proc/self/status", "VmHWM");
  return kilobytes.empty() ? 0 : std::stod(kilobytes) * 1024 / 1e6;
}

// From here on, peak_memory() counts anew where the system can do that.
inline void reset_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace bench
