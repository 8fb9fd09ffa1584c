// Bodies of batch_buffers.hpp for Cuda.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <gpunet/data/batch_buffers.hpp>
#include <gpunet/device/cuda/handle.cuh>
#include <gpunet/ops/gather_samples.hpp>

namespace gpunet::data {

struct BatchBuffers<Cuda>::State {
  using Pinned = std::unique_ptr<std::byte[], gpunet::detail::Destroy<cudaFreeHost>>;

  // A batch in host memory, and whether it is copied.
  struct Slot {
    Pinned inputs, targets;
    gpunet::detail::Event copied;
  };
  // A batch in device memory, and whether the work on it is done.
  struct Target {
    Buffer<std::byte, Cuda> inputs, targets;
    gpunet::detail::Event used;
  };

  State(Cuda& device, index_t slot_count, index_t batch_size, const DatasetView& set)
      : features(set.sample_sizes().numel()),
        sample_bytes(static_cast<index_t>(set.sample_bytes())),
        target_bytes(static_cast<index_t>(set.target_bytes())) {
    for (index_t slot = 0; slot < slot_count; ++slot)
      all.push_back({pin(batch_size * sample_bytes), pin(batch_size * target_bytes),
                     gpunet::detail::make_event()});
    if (set.pixel_table()) {
      const std::vector<float>& values = set.pixel_table()->values();
      table = {device, static_cast<index_t>(values.size())};
      device.upload(table.data(), values.data(), table.bytes());
      floats = {device, batch_size * features};
    }
    for (Target& target : targets) {
      target = {{device, batch_size * sample_bytes},
                {device, batch_size * target_bytes},
                gpunet::detail::make_event()};
      // The memory is there from this moment on.
      check(cudaEventRecord(target.used.get(), device.stream()));
    }
  }

  static Pinned pin(index_t bytes) {
    void* memory = nullptr;
    const cudaError_t status =
        cudaMallocHost(&memory, static_cast<std::size_t>(std::max(bytes, index_t{1})));
    if (status != cudaSuccess) ignore_error(status);
    require(status == cudaSuccess, "gpunet::data::DataLoader: no pinned host memory for ", bytes,
            " bytes (", cudaGetErrorString(status),
            "), use a smaller batch_size, prefetch_factor or num_workers");
    return Pinned(static_cast<std::byte*>(memory));
  }

  template <class T>
  static const T* address(const Buffer<std::byte, Cuda>& buffer) {
    return static_cast<const T*>(static_cast<const void*>(buffer.data()));
  }

  // The floats of n samples that came as bytes.
  const float* decoded(Cuda& device, const Target& from, index_t n) {
    GatherSamples<std::uint8_t> gather{};
    gather.batch = n;
    gather.features = features;
    gather.samples = address<std::uint8_t>(from.inputs);
    gather.table = table.data();
    gather.pixels = gather.features * 256 / table.size();
    gather.batch_inputs = floats.data();
    gather_samples(device, gather);
    return floats.data();
  }

  Slot& at(index_t slot) { return all[static_cast<std::size_t>(slot)]; }

  index_t features;      // of a sample
  index_t sample_bytes;  // as they travel
  index_t target_bytes;
  std::vector<Slot> all;
  std::array<Target, 2> targets;
  Buffer<float, Cuda> table;   // see PixelTable; empty where floats travel
  Buffer<float, Cuda> floats;  // the newest batch, where bytes travel
  std::size_t newest = 0;      // the target that was sent to last
};

GPUNET_BACKENDS_INLINE BatchBuffers<Cuda>::BatchBuffers(Cuda& device, index_t slot_count,
                                                        index_t batch_size, const DatasetView& set)
    : device_(device) {
  const gpunet::detail::CurrentDevice current(device.ordinal());
  state_ = std::make_unique<State>(device, slot_count, batch_size, set);
}

GPUNET_BACKENDS_INLINE BatchBuffers<Cuda>::~BatchBuffers() {
  const gpunet::detail::CurrentDevice current(device_.ordinal());
  ignore_error(cudaStreamSynchronize(device_.copy_stream()));
}

GPUNET_BACKENDS_INLINE void BatchBuffers<Cuda>::enter() {
  check(cudaSetDevice(device_.ordinal()));  // and left so: a worker needs no other
}

GPUNET_BACKENDS_INLINE void BatchBuffers<Cuda>::wait_reusable(index_t slot) {
  const gpunet::detail::CurrentDevice current(device_.ordinal());
  check(cudaEventSynchronize(state_->at(slot).copied.get()));
}

GPUNET_BACKENDS_INLINE void* BatchBuffers<Cuda>::host_inputs(index_t slot) {
  return state_->at(slot).inputs.get();
}
GPUNET_BACKENDS_INLINE void* BatchBuffers<Cuda>::host_targets(index_t slot) {
  return state_->at(slot).targets.get();
}

GPUNET_BACKENDS_INLINE BatchMemory BatchBuffers<Cuda>::send(index_t slot, index_t n) {
  const gpunet::detail::CurrentDevice current(device_.ordinal());
  State& state = *state_;
  const State::Slot& from = state.at(slot);
  state.newest = 1 - state.newest;
  const State::Target& to = state.targets[state.newest];
  const auto copy = [this](std::byte* target, const std::byte* source, index_t bytes) {
    check(cudaMemcpyAsync(target, source, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice,
                          device_.copy_stream()));
  };
  check(cudaStreamWaitEvent(device_.copy_stream(), to.used.get()));
  copy(to.inputs.data(), from.inputs.get(), n * state.sample_bytes);
  copy(to.targets.data(), from.targets.get(), n * state.target_bytes);
  check(cudaEventRecord(from.copied.get(), device_.copy_stream()));
  check(cudaStreamWaitEvent(device_.stream(), from.copied.get()));
  const float* const inputs =
      state.table.size() > 0 ? state.decoded(device_, to, n) : State::address<float>(to.inputs);
  return {inputs, to.targets.data()};
}

GPUNET_BACKENDS_INLINE void BatchBuffers<Cuda>::release(index_t) noexcept {
  const gpunet::detail::CurrentDevice current(device_.ordinal());
  ignore_error(cudaEventRecord(state_->targets[state_->newest].used.get(), device_.stream()));
}

}  // namespace gpunet::data
