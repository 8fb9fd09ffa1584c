// operator new of a program whose allocations can be made to fail.
#include <atomic>
#include <cstdlib>
#include <new>

#include "failing_memory.hpp"

namespace {

class HostMemory final : public FailingMemory {
 public:
  void fail(const Failing& which) override {
    which_ = which;
    asked_ = 0;
    fails_ = true;
  }
  long stop() override {
    fails_ = false;
    return asked_;
  }
  long in_use() const override { return in_use_; }

  // Throws std::bad_alloc if this allocation is to fail.
  void* allocate(std::size_t bytes, std::size_t alignment) {
    if (fails_) {
      const long number = ++asked_;
      if (number == which_.first || (which_.and_later && number > which_.first))
        throw std::bad_alloc();
    }
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* const memory = std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment);
    if (!memory) throw std::bad_alloc();
    ++in_use_;
    return memory;
  }
  void deallocate(void* memory) noexcept {
    if (!memory) return;
    --in_use_;
    std::free(memory);
  }

 private:
  Failing which_ = {};
  std::atomic<bool> fails_{false};
  std::atomic<long> asked_{0}, in_use_{0};
};

constinit HostMemory memory;

}  // namespace

FailingMemory& host_memory() {
  return memory;
}

// All of them: those of the sanitizers would call each other.
void* operator new(std::size_t bytes) {
  return memory.allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new[](std::size_t bytes) {
  return memory.allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return memory.allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return memory.allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept try {
  return memory.allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
} catch (const std::bad_alloc&) {
  return nullptr;
}
void* operator new[](std::size_t bytes, const std::nothrow_t& nothrow) noexcept {
  return operator new(bytes, nothrow);
}
void operator delete(void* p) noexcept {
  memory.deallocate(p);
}
void operator delete[](void* p) noexcept {
  memory.deallocate(p);
}
void operator delete(void* p, std::size_t) noexcept {
  memory.deallocate(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  memory.deallocate(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  memory.deallocate(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
  memory.deallocate(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  memory.deallocate(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  memory.deallocate(p);
}
void operator delete(void* p, const std::nothrow_t&) noexcept {
  memory.deallocate(p);
}
void operator delete[](void* p, const std::nothrow_t&) noexcept {
  memory.deallocate(p);
}
