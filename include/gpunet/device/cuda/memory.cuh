// The memory of a GPU: a pool that keeps freed memory, and counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gpunet/device/cuda/handle.cuh>

namespace gpunet::detail {

// Memory for the work of one stream. Freed memory may be given out again at once, for work that
// comes later on the stream; none of it goes back to the driver before trim(). Counts in blocks of
// 512 bytes, as PyTorch does.
class CudaMemory {
 public:
  static constexpr std::size_t block = 512;
  static constexpr std::size_t in_blocks(std::size_t bytes) {
    return (bytes + block - 1) / block * block;
  }

  explicit CudaMemory(int ordinal) : ordinal_(ordinal), pool_(make_memory_pool(ordinal)) {}

  // Throws Error with the bytes that were asked, are free and are held. Then nothing has changed.
  void* allocate(std::size_t bytes, cudaStream_t stream) {
    void* memory = nullptr;
    cudaError_t status = cudaMallocFromPoolAsync(&memory, bytes, pool_.get(), stream);
    if (is_too_much(status)) {  // once more, with all that was freed put together again
      ignore_error(status);
      check(cudaStreamSynchronize(stream));
      trim();
      status = cudaMallocFromPoolAsync(&memory, bytes, pool_.get(), stream);
    }
    if (is_too_much(status)) throw_out_of_memory(bytes);
    check(status);
    allocated_ += in_blocks(bytes);
    most_allocated_ = std::max(most_allocated_, allocated_);
    return memory;
  }
  void deallocate(void* memory, std::size_t bytes, cudaStream_t stream) noexcept {
    ignore_error(cudaFreeAsync(memory, stream));
    allocated_ -= in_blocks(bytes);
  }

  // Gives free memory back to the driver.
  void trim() {
    const CurrentDevice current(ordinal_);
    check(cudaMemPoolTrimTo(pool_.get(), 0));
  }

  // Lets another device reach this memory, if the two have a way, so that copies between them leave
  // the host out. Later memory is reached too.
  void share_with(int peer) {
    if (peer == ordinal_ || std::find(peers_.begin(), peers_.end(), peer) != peers_.end()) return;
    peers_.push_back(peer);
    int has_way = 0;
    check(cudaDeviceCanAccessPeer(&has_way, peer, ordinal_));
    if (!has_way) return;
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = peer;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    // refused: copies go the longer way.
    ignore_error(cudaMemPoolSetAccess(pool_.get(), &access, 1));
  }

  std::size_t allocated() const { return allocated_; }
  std::size_t most_allocated() const { return most_allocated_; }
  void reset_most_allocated() { most_allocated_ = allocated_; }
  // Taken from the driver, given out or not.
  std::size_t reserved() const {
    const CurrentDevice current(ordinal_);
    std::uint64_t bytes = 0;
    check(cudaMemPoolGetAttribute(pool_.get(), cudaMemPoolAttrReservedMemCurrent, &bytes));
    return bytes;
  }

 private:
  // Pool and stream are valid, so that an invalid value is a size beyond all memory.
  static bool is_too_much(cudaError_t status) {
    return status == cudaErrorMemoryAllocation || status == cudaErrorInvalidValue;
  }
  [[noreturn]] void throw_out_of_memory(std::size_t bytes) const {
    static_cast<void>(cudaGetLastError());
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total));
    throw_error(Error(concat(
        "gpunet::Cuda: CUDA out of memory: tried to allocate ", bytes, " bytes on cuda:", ordinal_,
        " (", free, " bytes free of ", total, "; this device object holds ", allocated_,
        " in tensors and models and ", reserved(), " reserved), use a smaller batch or network")));
  }

  int ordinal_;
  MemoryPool pool_;
  std::vector<int> peers_;  // that were asked for
  std::size_t allocated_ = 0, most_allocated_ = 0;
};

}  // namespace gpunet::detail
