// What fork() needs in a test with threads.
#pragma once

#include <dirent.h>
#include <fstream>
#include <string>
#include <unistd.h>

// Returns whether all threads of this process but the caller's sleep. True without /proc.
inline bool other_threads_sleep() {
  DIR* tasks = ::opendir("/proc/self/task");
  if (!tasks) return true;
  bool all = true;
  while (const dirent* task = ::readdir(tasks)) {
    const std::string name = task->d_name;
    if (name.starts_with('.') || name == std::to_string(::gettid())) continue;
    std::string line;
    std::getline(std::ifstream("/proc/self/task/" + name + "/stat"), line);
    // "ID (program) state ..."; a thread that has ended has no line.
    const std::size_t end = line.rfind(')');
    all = all && (end == std::string::npos || line[end + 2] == 'S');
  }
  ::closedir(tasks);
  return all;
}

// Returns once no other thread runs, to be called before fork(): a thread that allocates memory
// holds the allocator's lock, which nothing would release in the child. glibc's malloc provides for
// that, the allocators of sanitizers do not.
inline void let_threads_sleep() {
  while (!other_threads_sleep())
    ::usleep(100);
}
