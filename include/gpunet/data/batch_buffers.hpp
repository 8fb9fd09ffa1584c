// The memory of a loader's batches, and their copies to the device.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <gpunet/data/dataset.hpp>
#include <gpunet/device/cuda/cuda.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/tensor/buffer.hpp>
#include <gpunet/tensor/view.hpp>

namespace gpunet::data {

// A batch of n samples and their targets on device D, borrowed from the loader until the next
// batch.
template <class D, class Target = label_t>
struct Batch {
  View<const float, D> inputs;    // [n, ...sample sizes]
  View<const Target, D> targets;  // [n, ...target sizes]; labels are [n]
};

// The memory of a batch on a device, targets as in the dataset.
struct BatchMemory {
  const float* inputs;
  const void* targets;
};

// Slots for batches in host memory, see BatchBuffers.
class BatchSlots {
 public:
  virtual ~BatchSlots() = default;
  virtual void enter() {}
  virtual void wait_reusable(index_t) {}
  virtual void* host_inputs(index_t slot) = 0;   // [batch size, ...]
  virtual void* host_targets(index_t slot) = 0;  // [batch size, ...]
};

// A ring of slots for batches on device D. A slot is filled in host memory, sent, used, released,
// and filled again.
//
//   member              thread     when
//   constructor         training   before the first epoch; everything is allocated here
//   enter()             worker     before its first batch of an epoch
//   wait_reusable(s)    filler     before it writes slot s, which is new, released, or filled but
//                                  not sent
//   host_inputs(s),
//   host_targets(s)     filler     while it writes samples by DatasetView::read_raw()
//   send(s, n)          training   when the slot is filled; returns its first n samples
//   release(s)          training   at the next batch or the end of the loop; all work on the batch
//                                  has been submitted to the device but need not be complete
//   destructor          training   when no filler runs and all sent slots are released
//
// The filler is a worker, or the training thread itself. Calls on one slot are ordered by the
// loader's lock; calls on different slots may run concurrently. wait_reusable and send may throw,
// release must not. `takes_bytes`: samples are copied as bytes; `least_slots`: the smallest number
// of slots.
template <Device D>
class BatchBuffers;

// On Host a batch is used where it was written, without a copy.
template <>
class BatchBuffers<Host> final : public BatchSlots {
 public:
  static constexpr bool takes_bytes = false;
  static constexpr index_t least_slots = 1;

  BatchBuffers(Host& host, index_t slot_count, index_t batch_size, const DatasetView& set);
  ~BatchBuffers() override;

  void* host_inputs(index_t slot) override;
  void* host_targets(index_t slot) override;

  BatchMemory send(index_t slot, index_t n);
  void release(index_t) noexcept {}

 private:
  std::vector<Buffer<float, Host>> inputs_;
  std::vector<Buffer<std::byte, Host>> targets_;
};

#if GPUNET_CUDA
// Slots in pinned host memory and two batches in device memory: one is used while the next is
// copied. Bytes are converted to floats on the device. The streams wait for each other by events;
// the training thread waits only for a free slot. With two slots or more it fills one while the
// other is copied. One slot is sent at a time.
template <>
class BatchBuffers<Cuda> final : public BatchSlots {
 public:
  static constexpr bool takes_bytes = true;
  static constexpr index_t least_slots = 2;

  BatchBuffers(Cuda& device, index_t slot_count, index_t batch_size, const DatasetView& set);
  // Waits until all slots are copied.
  ~BatchBuffers() override;
  BatchBuffers(const BatchBuffers&) = delete;
  BatchBuffers& operator=(const BatchBuffers&) = delete;

  void enter() override;
  // Waits until the slot is copied.
  void wait_reusable(index_t slot) override;
  void* host_inputs(index_t slot) override;
  void* host_targets(index_t slot) override;

  BatchMemory send(index_t slot, index_t n);
  void release(index_t) noexcept;

 private:
  struct State;  // batch_buffers.cuh

  Cuda& device_;
  std::unique_ptr<State> state_;
};
#endif

// On any other device: one batch of device memory, to which send() copies. Work on a device runs in
// order, so the copy waits for the work on the previous batch. A device with asynchronous copies
// specializes the class.
template <Device D>
class BatchBuffers final : public BatchSlots {
 public:
  static constexpr bool takes_bytes = false;
  static constexpr index_t least_slots = 1;

  BatchBuffers(D& device, index_t slot_count, index_t batch_size, const DatasetView& set)
      : device_(device),
        staging_(host_, slot_count, batch_size, set),
        sample_bytes_(set.sample_bytes()),
        target_bytes_(set.target_bytes()),
        inputs_(device, batch_size * set.sample_sizes().numel()),
        targets_(device, batch_size * static_cast<index_t>(target_bytes_)) {}

  void* host_inputs(index_t slot) override { return staging_.host_inputs(slot); }
  void* host_targets(index_t slot) override { return staging_.host_targets(slot); }

  BatchMemory send(index_t slot, index_t n) {
    const BatchMemory from = staging_.send(slot, n);
    device_.upload(inputs_.data(), from.inputs, static_cast<std::size_t>(n) * sample_bytes_);
    device_.upload(targets_.data(), from.targets, static_cast<std::size_t>(n) * target_bytes_);
    return {inputs_.data(), targets_.data()};
  }
  void release(index_t) noexcept {}

 private:
  D& device_;
  Host host_{HostOptions{.threads = 1}};
  BatchBuffers<Host> staging_;
  std::size_t sample_bytes_, target_bytes_;
  Buffer<float, D> inputs_;
  Buffer<std::byte, D> targets_;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/batch_buffers.ipp>
#endif
#if GPUNET_NVCC && !GPUNET_COMPILED
#include <gpunet/data/batch_buffers.cuh>
#endif
