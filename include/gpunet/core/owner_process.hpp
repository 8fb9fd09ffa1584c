// Objects with threads after fork(): a child has a copy of the object, but none of its threads.
#pragma once

#include <memory>
#include <unistd.h>

namespace gpunet::detail {

// The process that started some threads. is_this() is a system call: only code that would wait for
// the threads calls it.
class OwnerProcess {
 public:
  bool is_this() const { return id_ == ::getpid(); }

 private:
  pid_t id_ = ::getpid();
};

// Constructs an object anew without destroying it first: in a child of fork(), the destructors of a
// thread and of a condition that it waited for do not return, and a mutex that it held is never
// unlocked.
template <class T>
void forget(T& object) {
  std::construct_at(std::addressof(object));
}

}  // namespace gpunet::detail
