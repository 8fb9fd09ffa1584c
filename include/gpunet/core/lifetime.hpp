// Whether the owner of borrowed memory still exists.
#pragma once

#include <atomic>
#include <utility>

namespace gpunet::detail {

// The state that an owner and its borrowers share; the last of them deletes it.
struct LifetimeState {
  std::atomic<int> holders{1};
  std::atomic<bool> is_over{false};

  static void release(LifetimeState* state) noexcept {
    if (state && state->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete state;
  }
};

// Of an owner. Moves and ends with its owner. Allocates at the first borrow(), which any thread may
// call.
class OwnerLifetime {
 public:
  OwnerLifetime() = default;
  OwnerLifetime(OwnerLifetime&& other) noexcept : state_(other.state_.exchange(nullptr)) {}
  OwnerLifetime& operator=(OwnerLifetime&& other) noexcept {
    if (this != &other) end(state_.exchange(other.state_.exchange(nullptr)));
    return *this;
  }
  ~OwnerLifetime() { end(state_.load(std::memory_order_acquire)); }

  LifetimeState* borrow() const {
    LifetimeState* state = state_.load(std::memory_order_acquire);
    if (!state) {
      auto* made = new LifetimeState;
      if (state_.compare_exchange_strong(state, made))
        state = made;
      else
        delete made;
    }
    state->holders.fetch_add(1, std::memory_order_relaxed);
    return state;
  }

 private:
  static void end(LifetimeState* state) noexcept {
    if (state) state->is_over.store(true, std::memory_order_release);
    LifetimeState::release(state);
  }

  mutable std::atomic<LifetimeState*> state_{nullptr};
};

// Of a borrower; empty where nothing is known of the owner.
class BorrowedLifetime {
 public:
  BorrowedLifetime() = default;
  explicit BorrowedLifetime(const OwnerLifetime& owner) : state_(owner.borrow()) {}
  BorrowedLifetime(const BorrowedLifetime& other) : state_(other.state_) {
    if (state_) state_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  BorrowedLifetime(BorrowedLifetime&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)) {}
  BorrowedLifetime& operator=(BorrowedLifetime other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~BorrowedLifetime() { LifetimeState::release(state_); }

  bool is_over() const { return state_ && state_->is_over.load(std::memory_order_acquire); }

 private:
  LifetimeState* state_ = nullptr;
};

}  // namespace gpunet::detail
