// Batches on their way to a GPU.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <gpunet/data/batch_buffers.hpp>
#include <gpunet/data/gather_samples.hpp>
#include <gpunet/device/cuda/cuda.cuh>

namespace gpunet::data {

// Slots in pinned host memory, and two batches on the device: while one is used, the next is copied beside it. Bytes
// become floats on the device. The streams wait for each other by events, so the training thread waits for nothing but
// a free slot: two at least, that it fills one while the other is copied. One slot is sent at a time.
template <>
class BatchBuffers<Cuda> final : public BatchSlots {
 public:
  static constexpr bool takes_bytes = true;
  static constexpr index_t least_slots = 2;

  // `batch`: [batch size, ...sample sizes].
  BatchBuffers(Cuda& device, index_t slots, const Sizes& batch, const DatasetView& set)
      : device_(device), sample_(batch.tail()), sample_bytes_(static_cast<index_t>(set.sample_bytes())) {
    const gpunet::detail::CurrentDevice current(device.ordinal());
    for (index_t slot = 0; slot < slots; ++slot)
      slots_.push_back(
          {pin<std::byte>(batch[0] * sample_bytes_), pin<label_t>(batch[0]), gpunet::detail::make_event()});
    if (set.pixel_table()) {
      const std::vector<float>& values = set.pixel_table()->values();
      table_ = {device, static_cast<index_t>(values.size())};
      device.upload(table_.data(), values.data(), table_.bytes());
      floats_ = {device, batch.numel()};
    }
    for (Target& target : targets_) {
      target = {{device, batch[0] * sample_bytes_}, {device, batch[0]}, gpunet::detail::make_event()};
      check(cudaEventRecord(target.used.get(), device.stream()));  // the memory is there from this moment on
    }
  }
  // Waits for the copies out of the slots.
  ~BatchBuffers() override {
    const gpunet::detail::CurrentDevice current(device_.ordinal());
    ignore_error(cudaStreamSynchronize(device_.copy_stream()));
  }
  BatchBuffers(const BatchBuffers&) = delete;
  BatchBuffers& operator=(const BatchBuffers&) = delete;

  void enter() override { check(cudaSetDevice(device_.ordinal())); }  // and left so: a worker needs no other
  // Waits for the copy out of the slot.
  void wait_reusable(index_t slot) override {
    const gpunet::detail::CurrentDevice current(device_.ordinal());
    check(cudaEventSynchronize(at(slot).copied.get()));
  }
  void* host_inputs(index_t slot) override { return at(slot).inputs.get(); }
  label_t* host_labels(index_t slot) override { return at(slot).labels.get(); }

  Batch<Cuda> send(index_t slot, index_t n) {
    const gpunet::detail::CurrentDevice current(device_.ordinal());
    const Slot& from = at(slot);
    newest_ = 1 - newest_;
    const Target& to = targets_[newest_];
    check(cudaStreamWaitEvent(device_.copy_stream(), to.used.get()));
    copy(to.inputs.data(), from.inputs.get(), n * sample_bytes_);
    copy(to.labels.data(), from.labels.get(), n);
    check(cudaEventRecord(from.copied.get(), device_.copy_stream()));
    check(cudaStreamWaitEvent(device_.stream(), from.copied.get()));
    const float* const inputs = table_.size() > 0 ? decoded(to, n) : address<float>(to.inputs);
    return {{inputs, sample_.with_front(n)}, {to.labels.data(), Sizes{n}}};
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
    Pinned<std::byte> inputs;
    Pinned<label_t> labels;
    gpunet::detail::Event copied;
  };
  // A batch in device memory, and whether the work on it is done.
  struct Target {
    Buffer<std::byte, Cuda> inputs;
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
            cudaGetErrorString(status), "), use a smaller batch_size, prefetch_factor or num_workers");
    return Pinned<T>(static_cast<T*>(memory));
  }

  template <class T>
  static const T* address(const Buffer<std::byte, Cuda>& buffer) {
    return static_cast<const T*>(static_cast<const void*>(buffer.data()));
  }

  // The floats of n samples that came as bytes.
  const float* decoded(const Target& from, index_t n) {
    GatherSamples<std::uint8_t> gather{};
    gather.batch = n;
    gather.features = sample_.numel();
    gather.samples = address<std::uint8_t>(from.inputs);
    gather.table = table_.data();
    gather.pixels = gather.features * 256 / table_.size();
    gather.batch_inputs = floats_.data();
    gather_samples(device_, gather);
    return floats_.data();
  }

  Slot& at(index_t slot) { return slots_[static_cast<std::size_t>(slot)]; }

  template <class T>
  void copy(T* to, const T* from, index_t size) {
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(T);
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, device_.copy_stream()));
  }

  Cuda& device_;
  Sizes sample_;
  index_t sample_bytes_;  // as they travel
  std::vector<Slot> slots_;
  std::array<Target, 2> targets_;
  Buffer<float, Cuda> table_;   // see PixelTable; empty where floats travel
  Buffer<float, Cuda> floats_;  // the newest batch, where bytes travel
  std::size_t newest_ = 0;      // the target that was sent to last
};

}  // namespace gpunet::data
