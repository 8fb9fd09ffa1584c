// A guard against concurrent calls of a model.
#pragma once

#include <atomic>
#include <mutex>

#include <gpunet/core/error.hpp>

namespace gpunet {

// The state of a model's memory: free, used by one call exclusively, or read by any number of
// calls. A call that conflicts throws Error and does not wait.
class ModelUse {
 public:
  ModelUse() = default;
  // For a moved model, which no call uses.
  ModelUse(ModelUse&&) noexcept {}

  // Begin a use and return true, unless another call is in the way. An object with std::adopt_lock
  // ends it.
  bool try_exclusive() {
    int expected = free;
    return state_.compare_exchange_strong(expected, exclusive, std::memory_order_acquire);
  }
  bool try_shared() {
    int readers = state_.load(std::memory_order_relaxed);
    do
      if (readers == exclusive) return false;
    while (!state_.compare_exchange_weak(readers, readers + 1, std::memory_order_acquire,
                                         std::memory_order_relaxed));
    return true;
  }

  // Exclusive use until the end of the scope: passes, updates of parameters. Throws Error if
  // another call uses the model.
  class Exclusive {
   public:
    explicit Exclusive(ModelUse& use) : state_(use.state_) {
      if (!use.try_exclusive()) refuse();
    }
    Exclusive(ModelUse& use, std::adopt_lock_t) : state_(use.state_) {}
    ~Exclusive() { state_.store(free, std::memory_order_release); }
    Exclusive(const Exclusive&) = delete;
    Exclusive& operator=(const Exclusive&) = delete;

   private:
    std::atomic<int>& state_;
  };

  // Shared use until the end of the scope: copies of outputs, losses and parameters. Throws Error
  // during an exclusive use.
  class Shared {
   public:
    explicit Shared(ModelUse& use) : state_(use.state_) {
      if (!use.try_shared()) refuse();
    }
    Shared(ModelUse& use, std::adopt_lock_t) : state_(use.state_) {}
    ~Shared() { state_.fetch_sub(1, std::memory_order_release); }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

   private:
    std::atomic<int>& state_;
  };

 private:
  static constexpr int free = 0, exclusive = -1;  // > 0: the number of readers

  [[noreturn, gnu::cold, gnu::noinline]] static void refuse() {
    throw_error(
        Error("gpunet::Model: another call uses this model, in another thread or around this one "
              "(its memory holds one pass), make a model for each thread, guard this one by a "
              "mutex, or predict from PublishedWeights"));
  }

  std::atomic<int> state_{free};
};

}  // namespace gpunet
