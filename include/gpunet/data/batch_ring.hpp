// Assigns batches to workers and slots.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <vector>

#include <gpunet/core/config.hpp>

namespace gpunet::data {

// Synchronizes the workers of a loader with its training thread. Batch b of an epoch is in slot b %
// slots; batches are begun and used in order. A worker without a free slot sleeps until half of the
// slots are free, so a loader that is ahead does not wake a thread for every batch.
class BatchRing {
 public:
  explicit BatchRing(index_t slot_count) : slots_(static_cast<std::size_t>(slot_count)) {}

  index_t slot(index_t batch) const { return batch % static_cast<index_t>(slots_.size()); }

  // Begins an epoch, at its batch `first`. No worker may be running.
  void start(index_t batches, index_t first = 0);

  // Stops the workers; they may leave their current batch unfinished.
  void stop();
  // In a child of fork(): stops without the workers, which are threads of the parent.
  void forget_workers();
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // For a worker: waits for a free slot and returns the batch to fill next, or -1 to stop.
  index_t begin_next();

  // For a worker: reports that `batch` is filled, or failed with `error`.
  void finish(index_t batch, std::exception_ptr error);

  // For the training thread: frees the slots of earlier batches and asks for `batch`. Returns true
  // if no worker has begun it, so the caller must fill it. Otherwise waits until it is filled, and
  // rethrows the worker's exception.
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
  index_t begun_ = 0;     // batches that are filled or being filled
  index_t used_ = 0;      // batches whose slots are free again
  index_t awaited_ = -1;  // the batch that the training thread waits for, or -1
  int asleep_ = 0;        // workers waiting for a slot
  std::atomic<bool> stopped_ = false;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/batch_ring.ipp>
#endif
