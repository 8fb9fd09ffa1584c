// Who fills which batch, and when a slot is free again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include <gpunet/core/config.hpp>

namespace gpunet::data {

// The bookkeeping between the workers of a loader and its training thread. Batch b of an epoch lives in slot b %
// slots; batches are begun in order and used in order. A worker that finds no free slot sleeps until half of them
// are free, so that a loader which is ahead wakes a thread once in a while and not for every batch.
class BatchRing {
 public:
  explicit BatchRing(index_t slots) : slots_(static_cast<std::size_t>(slots)) {}

  index_t slot(index_t batch) const { return batch % static_cast<index_t>(slots_.size()); }

  // Begins an epoch of `batches` batches. No worker may be running.
  void start(index_t batches) {
    batches_ = batches;
    begun_ = used_ = 0;
    stopped_ = false;
  }

  // Sends the workers home; they may leave the batch they are at unfinished.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    slot_free_.notify_all();
  }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // For a worker: waits for a free slot and begins the next batch. Returns -1 if it is to go home.
  index_t begin_next() {
    std::unique_lock lock(mutex_);
    if (free_slots() == 0) {
      ++asleep_;
      slot_free_.wait(lock, [this] { return stopped_ || free_slots() > 0; });
      --asleep_;
    }
    return stopped_ || begun_ == batches_ ? -1 : begin();
  }

  // For the worker that began `batch`: it is filled, or cannot be because of `error`.
  void finish(index_t batch, std::exception_ptr error) {
    {
      const std::lock_guard lock(mutex_);
      state(batch) = {true, std::move(error)};
      if (awaited_ != batch) return;
    }
    batch_filled_.notify_one();
  }

  // For the training thread: it is done with the batches before `batch` and wants this one. Returns true if no
  // worker has begun it: the caller fills it. Otherwise waits until it is filled, and throws what kept the worker
  // from that.
  bool want(index_t batch) {
    std::unique_lock lock(mutex_);
    used_ = batch;
    const bool callers = begun_ == batch;
    if (callers) begin();
    if (asleep_ > 0 && begun_ < batches_ && 2 * free_slots() >= static_cast<index_t>(slots_.size()))
      slot_free_.notify_one();
    if (callers) return true;

    awaited_ = batch;
    batch_filled_.wait(lock, [&] { return state(batch).filled; });
    awaited_ = -1;
    if (state(batch).error) std::rethrow_exception(std::exchange(state(batch).error, nullptr));
    return false;
  }

 private:
  struct Slot {
    bool filled = false;
    std::exception_ptr error;
  };

  Slot& state(index_t batch) { return slots_[static_cast<std::size_t>(slot(batch))]; }
  index_t free_slots() const { return static_cast<index_t>(slots_.size()) - (begun_ - used_); }
  index_t begin() {
    state(begun_) = {};
    return begun_++;
  }

  std::mutex mutex_;
  std::condition_variable slot_free_, batch_filled_;
  std::vector<Slot> slots_;
  index_t batches_ = 0;   // of the epoch
  index_t begun_ = 0;     // batches that somebody fills or has filled
  index_t used_ = 0;      // batches whose slots are free again
  index_t awaited_ = -1;  // the batch that the training thread sleeps for
  int asleep_ = 0;        // workers without a slot
  std::atomic<bool> stopped_ = false;
};

}  // namespace gpunet::data
