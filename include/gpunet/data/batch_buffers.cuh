// Batches on their way to a GPU.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <gpunet/data/batch_buffers.hpp>
#include <gpunet/device/cuda/cuda.cuh>

namespace gpunet::data {

// Slots in pinned host memory, and two batches on the device: while one is used, the next is copied beside it. The
// streams wait for each other by events, so the training thread waits for nothing. One slot is sent at a time.
template <>
class BatchBuffers<Cuda> {
 public:
  // `batch`: [batch size, ...sample sizes].
  BatchBuffers(Cuda& device, index_t slots, const Sizes& batch) : device_(device), sample_(batch.tail()) {
    const gpunet::detail::CurrentDevice current(device.ordinal());
    for (index_t slot = 0; slot < slots; ++slot)
      slots_.push_back({pin<float>(batch.numel()), pin<label_t>(batch[0]), gpunet::detail::make_event()});
    for (Target& target : targets_) {
      target = {{device, batch.numel()}, {device, batch[0]}, gpunet::detail::make_event()};
      check(cudaEventRecord(target.used.get(), device.stream()));  // the memory is there from this moment on
    }
  }
  // Waits for the copies out of the slots.
  ~BatchBuffers() {
    const gpunet::detail::CurrentDevice current(device_.ordinal());
    ignore_error(cudaStreamSynchronize(device_.copy_stream()));
  }
  BatchBuffers(const BatchBuffers&) = delete;
  BatchBuffers& operator=(const BatchBuffers&) = delete;

  void enter() { check(cudaSetDevice(device_.ordinal())); }  // and left so: a worker needs no other
  // Waits for the copy out of the slot.
  void wait_reusable(index_t slot) {
    const gpunet::detail::CurrentDevice current(device_.ordinal());
    check(cudaEventSynchronize(at(slot).copied.get()));
  }
  float* host_inputs(index_t slot) { return at(slot).inputs.get(); }    // [batch size, ...]
  label_t* host_labels(index_t slot) { return at(slot).labels.get(); }  // [batch size]

  Batch<Cuda> send(index_t slot, index_t n) {
    const gpunet::detail::CurrentDevice current(device_.ordinal());
    const Slot& from = at(slot);
    newest_ = 1 - newest_;
    const Target& to = targets_[newest_];
    const Sizes sizes = sample_.with_front(n);
    check(cudaStreamWaitEvent(device_.copy_stream(), to.used.get()));
    copy(to.inputs.data(), from.inputs.get(), sizes.numel());
    copy(to.labels.data(), from.labels.get(), n);
    check(cudaEventRecord(from.copied.get(), device_.copy_stream()));
    check(cudaStreamWaitEvent(device_.stream(), from.copied.get()));
    return {{to.inputs.data(), sizes}, {to.labels.data(), Sizes{n}}};
  }
  void release(index_t) noexcept {
    const gpunet::detail::CurrentDevice current(device_.ordinal());
    ignore_error(cudaEventRecord(targets_[newest_].used.get(), device_.stream()));
  }

 private:
  template <class T>
  using Pinned = std::unique_ptr<T[], gpunet::detail::Destroy<cudaFreeHost>>;

  // A batch in host memory, and whether it is copied.
  struct Slot {
    Pinned<float> inputs;
    Pinned<label_t> labels;
    gpunet::detail::Event copied;
  };
  // A batch in device memory, and whether the work on it is done.
  struct Target {
    Buffer<float, Cuda> inputs;
    Buffer<label_t, Cuda> labels;
    gpunet::detail::Event used;
  };

  template <class T>
  static Pinned<T> pin(index_t size) {
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(T);
    void* memory = nullptr;
    const cudaError_t status = cudaMallocHost(&memory, std::max(bytes, sizeof(T)));
    if (status != cudaSuccess) ignore_error(status);
    require(status == cudaSuccess, "gpunet::data::DataLoader: no pinned host memory for ", bytes, " bytes (",
            cudaGetErrorString(status), "), use a smaller batch_size or fewer num_workers");
    return Pinned<T>(static_cast<T*>(memory));
  }

  Slot& at(index_t slot) { return slots_[static_cast<std::size_t>(slot)]; }

  template <class T>
  void copy(T* to, const T* from, index_t size) {
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(T);
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, device_.copy_stream()));
  }

  Cuda& device_;
  Sizes sample_;
  std::vector<Slot> slots_;
  std::array<Target, 2> targets_;
  std::size_t newest_ = 0;  // the target that was sent to last
};

}  // namespace gpunet::data
