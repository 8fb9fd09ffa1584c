// open_and_close LIBRARY [ROUNDS]: opens a shared library with a model inside, trains in it and
// closes it, 100 times or more. Afterwards the process has what it had before, and nothing of the
// library is left in it.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <malloc.h>
#include <vector>

#include "guest/process.hpp"

namespace {

int failures = 0;

void expect(bool holds, const char* what, int round) {
  if (holds) return;
  std::fprintf(stderr, "round %d: %s\n", round, what);
  ++failures;
}

// Returns what the library writes, or nothing if it cannot be used.
std::vector<float> train_in(const char* path, int threads, int workers) {
  void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    return {};
  }
  using Train = int (*)(int, int, float*);
  std::vector<float> numbers(10000);
  if (const auto train = reinterpret_cast<Train>(::dlsym(library, "guest_train")))
    numbers.resize(static_cast<std::size_t>(train(threads, workers, numbers.data())));
  ::dlclose(library);
  return numbers;
}

}  // namespace

int main(int count, char** arguments) {
  constexpr int warm = 20;
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 100;
  const char* const path = arguments[1];
  const std::size_t threads = guest::entries("/proc/self/task"), files = guest::open_files();
  const auto handlers = guest::signal_handlers();
  // Not one for each thread, of which it depends on chance who takes which.
  ::mallopt(M_ARENA_MAX, 1);
  std::size_t bytes = 0, allocated = 0;
  std::vector<float> first;
  for (int round = 0; round < rounds; ++round) {
    {
      const auto numbers = train_in(path, 1 + round % 3, round % 3);
      if (round == 0) first = numbers;
      expect(numbers.size() > 16 && numbers == first, "other results", round);
    }
    expect(guest::threads_after_wait(threads) == threads, "a thread is left", round);
    expect(guest::open_files() == files, "an open file is left", round);
    expect(guest::signal_handlers() == handlers, "a signal handler is left", round);
    expect(!::dlopen(path, RTLD_NOW | RTLD_NOLOAD), "the library is still loaded", round);
    if (round == warm) {
      bytes = guest::resident_bytes();
      allocated = ::mallinfo2().uordblks;
    }
  }
  const auto grown = static_cast<long>(guest::resident_bytes() - bytes);
  const auto kept = static_cast<long>(::mallinfo2().uordblks - allocated);
  std::printf("%d rounds, %ld bytes allocated more than after %d, %ld bytes resident\n", rounds,
              kept, warm, grown);
  expect(kept < 16 << 10, "memory is lost", rounds);
  expect(grown < 8 << 20, "memory grows", rounds);
  return failures == 0 ? 0 : 1;
}
