// Allocations that fail: what a program does when one of them, or all from one on, cannot be had.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

#include <gpunet/core/error.hpp>

// Which allocations fail: the one of number `first`, from 1, and with `and_later` all after it.
struct Failing {
  long first = 0;  // 0: none
  bool and_later = false;
};

// A kind of memory whose allocations can be made to fail.
class FailingMemory {
 public:
  virtual ~FailingMemory() = default;
  // From now on these fail.
  virtual void fail(const Failing& which) = 0;
  // All succeed again. Returns how many were asked for since fail().
  virtual long stop() = 0;
  // Returns what is in use: a number that is the same again when all is released.
  virtual long in_use() const = 0;
};

// operator new of this program.
FailingMemory& host_memory();

// Runs operations with every allocation failing in turn, alone and with all later ones, and prints
// what was found.
class MemoryTest {
 public:
  // After the first 50, only each `every`-th allocation of an operation fails.
  MemoryTest(FailingMemory& memory, long every) : memory_(memory), every_(every) {}

  int failures() const { return failures_; }
  int operations() const { return operations_; }

  // `prepare` makes the objects; `operation` changes them, and `result` is a number of all that it
  // has to do. `state` is a number of what an error must leave alone.
  struct Parts {
    const char* name;
    std::function<void()> prepare, operation;
    std::function<std::uint64_t()> result, state = [] {
      return std::uint64_t{0};
    };
    bool unchanged_without_memory = true;  // `state`, also if no allocation succeeds any more
  };
  void operator()(const Parts& parts) {
    ++operations_;
    std::uint64_t right = 0;
    for (int i = 0; i < 2; ++i) {  // the first time makes what is made once in a program
      parts.prepare();
      parts.operation();
      right = parts.result();
    }
    long errors = 0, most = 0;
    int wrong = 0;
    for (const bool and_later : {false, true})
      for (long first = 1;; first += first < 50 ? 1 : every_) {
        parts.prepare();
        const std::uint64_t before = parts.state();
        const long in_use = memory_.in_use();
        const auto [error, asked] = fail({first, and_later}, parts.operation);
        most = std::max(most, asked);
        errors += error != Found::nothing;
        const auto expect = [&](bool holds, const char* what) {
          if (!holds && ++wrong <= 5)
            std::printf("WRONG: %s, allocation %ld%s: %s\n", parts.name, first,
                        and_later ? " and all later" : "", what);
        };
        expect(error != Found::something_else, "another error than one about memory");
        if (error == Found::nothing) {
          expect(parts.result() == right, "no error, and another result");
        } else {
          if (!and_later || parts.unchanged_without_memory)
            expect(parts.state() == before, "objects have changed");
          if (is_whole_) expect(memory_.in_use() == in_use, "memory is not released");
          parts.operation();
          expect(parts.result() == right, "another result afterwards");
        }
        if (asked < first) break;  // none of them failed
      }
    if (errors == 0) std::printf("WRONG: %s: no allocation failed\n", parts.name);
    failures_ += wrong > 0 || errors == 0;
    std::printf("%s: %ld allocations, %ld errors, %d wrong\n", parts.name, most, errors, wrong);
  }

  // The same for an operation that makes and destroys all that it uses, and returns its result.
  void whole(const char* name, const std::function<std::uint64_t()>& operation) {
    is_whole_ = true;
    std::uint64_t result = 0;
    (*this)({.name = name,
             .prepare = [] {},
             .operation = [&] { result = operation(); },
             .result =
                 [&] {
                   return result;
                 }});
    is_whole_ = false;
  }

 private:
  enum class Found { nothing, out_of_memory, something_else };

  // Runs the operation. Returns its error, and how many allocations it asked for.
  std::pair<Found, long> fail(const Failing& which, const std::function<void()>& operation) {
    memory_.fail(which);
    try {
      operation();
      return {Found::nothing, memory_.stop()};
    } catch (const gpunet::Error& error) {
      const long asked = memory_.stop();
      const bool says = std::strstr(error.what(), "memory");
      if (!says) std::printf("%s\n", error.what());
      return {says ? Found::out_of_memory : Found::something_else, asked};
    } catch (const std::bad_alloc&) {
      return {Found::out_of_memory, memory_.stop()};
    }
  }

  FailingMemory& memory_;
  long every_;
  bool is_whole_ = false;
  int failures_ = 0, operations_ = 0;
};
