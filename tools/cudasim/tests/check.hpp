// Checks of the tests: each prints a line, and the program counts those that failed.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <initializer_list>
#include <string_view>

inline int failed_checks = 0;

inline void check(const char* name, bool ok) {
  failed_checks += ok ? 0 : 1;
  std::printf("%s %s\n", ok ? "OK  " : "FAIL", name);
}

// Ends the program when a call of any library returns an error.
#define CHECK_OK(call)                                                               \
  do {                                                                               \
    if (const int status = static_cast<int>(call); status != 0) {                    \
      std::printf("FAIL %s:%d: %s returns %d\n", __FILE__, __LINE__, #call, status); \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (0)

// The call must return this error, which is cleared.
#define EXPECT(call, error)                                               \
  do {                                                                    \
    const bool expected = (call) == (error);                              \
    cudaGetLastError();                                                   \
    check(expected ? #call : #call " does not return " #error, expected); \
  } while (0)

struct Test {
  const char* name;
  void (*run)(int argument);
};

// Runs the test named by the first argument, or prints all names without arguments; returns the
// exit status.
inline int run_test(int argc, char** argv, std::initializer_list<Test> tests) {
  for (const Test& test : tests)
    if (argc < 2) {
      std::puts(test.name);
    } else if (std::string_view(argv[1]) == test.name) {
      test.run(argc > 2 ? std::atoi(argv[2]) : 0);
      return failed_checks != 0;
    }
  return argc < 2 ? 0 : 2;
}
