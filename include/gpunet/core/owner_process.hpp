// What objects with threads need to know of fork(): a child has a copy of the object, but none of its threads.
#pragma once

#include <memory>
#include <unistd.h>

namespace gpunet::detail {

// The process that started some threads. Asking takes a system call, so only code that would wait for the threads asks.
class OwnerProcess {
 public:
  bool is_this() const { return id_ == ::getpid(); }

 private:
  pid_t id_ = ::getpid();
};

// Makes an object anew without destroying it first: in a child of fork(), the destructors of a thread and of a condition
// that it waited for do not return, and a mutex that it held is never unlocked.
template <class T>
void forget(T& object) {
  std::construct_at(std::addressof(object));
}

}  // namespace gpunet::detail
