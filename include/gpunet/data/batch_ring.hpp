// Who fills which batch, and when a slot is free again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
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
  void start(index_t batches);

  // Stops the workers; they may leave the batch they are at unfinished.
  void stop();
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // For a worker: waits for a free slot and begins the next batch. Returns -1 if it is to stop.
  index_t begin_next();

  // For the worker that began `batch`: it is filled, or cannot be because of `error`.
  void finish(index_t batch, std::exception_ptr error);

  // For the training thread: it is done with the batches before `batch` and wants this one. Returns true if no
  // worker has begun it: the caller fills it. Otherwise waits until it is filled, and throws what kept the worker
  // from that.
  bool want(index_t batch);

 private:
  struct Slot {
    bool filled = false;
    std::exception_ptr error;
  };

  Slot& state(index_t batch) { return slots_[static_cast<std::size_t>(slot(batch))]; }
  index_t free_slots() const { return static_cast<index_t>(slots_.size()) - (begun_ - used_); }
  index_t begin();

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

#if !GPUNET_COMPILED
#include <gpunet/data/batch_ring.ipp>
#endif
