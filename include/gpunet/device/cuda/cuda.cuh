// The Cuda policy: one GPU.
#pragma once

#include <optional>
#include <string>

#include <gpunet/device/cuda/available.cuh>
#include <gpunet/device/cuda/blas.cuh>
#include <gpunet/device/device.hpp>

namespace gpunet {

// A GPU as a device: a stream that all work goes to, in order, a second one for copies from the host that run
// beside it, memory from a pool of its own, and cuBLAS. One thread at a time may give it work.
class Cuda {
 public:
  // Takes the device of this number, which becomes the current one of this thread. Throws Error when there is no
  // such device or it cannot run the kernels of this program.
  explicit Cuda(int ordinal = 0)
      : ordinal_(checked(ordinal)),
        stream_(detail::make_stream()),
        copy_stream_(detail::make_stream()),
        pool_(detail::make_memory_pool(ordinal)) {
    check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, ordinal));
  }
  // Waits for the work that is left.
  ~Cuda() {
    const detail::CurrentDevice current(ordinal_);
    ignore_error(cudaStreamSynchronize(copy_stream_.get()));
    if (blas_) ignore_error(cudaFreeAsync(blas_->workspace(), stream_.get()));
    ignore_error(cudaStreamSynchronize(stream_.get()));
    blas_.reset();
  }
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;

  std::string name() const { return concat("cuda:", ordinal_); }
  int ordinal() const { return ordinal_; }
  int multiprocessors() const { return multiprocessors_; }
  cudaStream_t stream() const { return stream_.get(); }
  cudaStream_t copy_stream() const { return copy_stream_.get(); }

  // cuBLAS on stream(); made at the first call.
  cublasHandle_t blas() {
    if (!blas_) {
      const detail::CurrentDevice current(ordinal_);
      const std::size_t bytes = detail::Blas::workspace_bytes(ordinal_);
      blas_.emplace(stream(), allocate(bytes), bytes);
    }
    return blas_->handle();
  }

  // Aligned to 256 bytes. Work given after this call may use the memory.
  void* allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    const detail::CurrentDevice current(ordinal_);
    void* memory = nullptr;
    check_allocation(cudaMallocFromPoolAsync(&memory, bytes, pool_.get(), stream()), bytes, ordinal_);
    return memory;
  }
  // Work given before this call may still use the memory.
  void deallocate(void* memory, std::size_t) noexcept {
    if (!memory) return;
    const detail::CurrentDevice current(ordinal_);
    ignore_error(cudaFreeAsync(memory, stream()));
  }

  // Does not wait for the device unless `source` is pinned, which CUDA would go on reading after the call.
  void upload(void* target, const void* source, std::size_t bytes) {
    if (bytes == 0) return;
    const detail::CurrentDevice current(ordinal_);
    check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyHostToDevice, stream()));
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, source));
    if (attributes.type != cudaMemoryTypeUnregistered) check(cudaStreamSynchronize(stream()));
  }
  void download(void* target, const void* source, std::size_t bytes) {
    const detail::CurrentDevice current(ordinal_);
    if (bytes > 0) check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToHost, stream()));
    check(cudaStreamSynchronize(stream()));
  }
  void copy(void* target, const void* source, std::size_t bytes) {
    if (bytes == 0) return;
    const detail::CurrentDevice current(ordinal_);
    check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, stream()));
  }
  void synchronize() {
    const detail::CurrentDevice current(ordinal_);
    check(cudaStreamSynchronize(copy_stream()));
    check(cudaStreamSynchronize(stream()));
  }

 private:
  static int checked(int ordinal) {
    detail::require_device(ordinal, "Cuda");
    check(cudaSetDevice(ordinal));
    const std::string why = cuda::why_not(ordinal);
    require(why.empty(), "gpunet::Cuda: ", why);
    return ordinal;
  }

  int ordinal_;
  int multiprocessors_ = 1;
  detail::Stream stream_;
  detail::Stream copy_stream_;
  detail::MemoryPool pool_;
  std::optional<detail::Blas> blas_;
};

static_assert(Device<Cuda>);

}  // namespace gpunet
