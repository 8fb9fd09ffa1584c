// A limit on the size of files.
#pragma once

#include <doctest/doctest.h>
#include <sys/resource.h>

// Files of this process can have no more than `bytes` bytes while it lives: what a full disk looks like to write(), but that
// the system sends SIGXFSZ too, which ends a program.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &old_) == 0);
    const rlimit limit{bytes, old_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &old_); }

 private:
  rlimit old_{};
};
