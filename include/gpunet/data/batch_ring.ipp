// Bodies of batch_ring.hpp.
#pragma once

#include <utility>

#include <gpunet/core/owner_process.hpp>
#include <gpunet/data/batch_ring.hpp>

namespace gpunet::data {

GPUNET_INLINE void BatchRing::start(index_t batches, index_t first) {
  batches_ = batches;
  begun_ = used_ = first;
  stopped_ = false;
}

GPUNET_INLINE void BatchRing::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  slot_free_.notify_all();
}

GPUNET_INLINE void BatchRing::forget_workers() {
  gpunet::detail::forget(mutex_);
  gpunet::detail::forget(slot_free_);
  gpunet::detail::forget(batch_filled_);
  asleep_ = 0;
  awaited_ = -1;
  stopped_ = true;
}

GPUNET_INLINE index_t BatchRing::begin_next() {
  std::unique_lock lock(mutex_);
  if (free_slots() == 0) {
    ++asleep_;
    slot_free_.wait(lock, [this] { return stopped_ || free_slots() > 0; });
    --asleep_;
  }
  return stopped_ || begun_ == batches_ ? -1 : begin();
}

GPUNET_INLINE void BatchRing::finish(index_t batch, std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    state(batch) = {true, std::move(error)};
    if (awaited_ != batch) return;
  }
  batch_filled_.notify_one();
}

GPUNET_INLINE bool BatchRing::want(index_t batch) {
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

GPUNET_INLINE index_t BatchRing::begin() {
  state(begun_) = {};
  return begun_++;
}

}  // namespace gpunet::data
