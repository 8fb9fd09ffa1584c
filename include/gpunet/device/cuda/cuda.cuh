// The Cuda policy: one GPU.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gpunet/device/cuda/available.cuh>
#include <gpunet/device/cuda/blas.cuh>
#include <gpunet/device/cuda/memory.cuh>
#include <gpunet/device/device.hpp>

namespace gpunet {

namespace detail {
class ConvolutionLibrary;  // ops/conv2d/cuda/library.cuh
}

// How a Cuda is made.
struct CudaOptions {
  Precision precision = Precision::exact;  // see Precision
};

inline namespace GPUNET_BACKENDS {

// A GPU as a device: a stream that all work goes to, in order, a second one for copies from the host that run
// beside it, memory from a pool of its own, and cuBLAS. One thread at a time may give it work.
class Cuda {
 public:
  // Number of devices, 0 where there is no driver.
  static int device_count() {
    std::string why;
    return detail::count_devices(why);
  }
  // The device that this thread's CUDA calls use.
  static int current_device() {
    std::string why;
    require(detail::count_devices(why) > 0, "gpunet::Cuda::current_device: ", why);
    int ordinal = 0;
    check(cudaGetDevice(&ordinal));
    return ordinal;
  }
  // As the maker names it. Throws Error when there is no such device.
  static std::string get_device_name(int ordinal) {
    detail::require_device(ordinal, "Cuda::get_device_name");
    cudaDeviceProp device{};
    check(cudaGetDeviceProperties(&device, ordinal));
    return device.name;
  }
  // Why a device cannot be used, as one sentence; empty when a kernel of this program ran on it. Asked once per
  // device.
  static std::string why_not(int ordinal) { return detail::why_not(ordinal); }
  // The same of the current device.
  static std::string why_not() {
    std::string why;
    return detail::count_devices(why) > 0 ? why_not(current_device()) : why;
  }
  static bool is_available() { return why_not().empty(); }

  // Takes the device of this number, which becomes the current one of this thread. Throws Error when there is no
  // such device or it cannot run the kernels of this program.
  explicit Cuda(int ordinal = 0, CudaOptions options = {})
      : ordinal_(checked(ordinal)),
        precision_(options.precision),
        stream_(detail::make_stream()),
        copy_stream_(detail::make_stream()),
        memory_(ordinal) {
    check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, ordinal));
    check(cudaDeviceGetAttribute(&reads_host_memory_, cudaDevAttrPageableMemoryAccessUsesHostPageTables, ordinal));
    cudaFuncAttributes code{};
    check(cudaFuncGetAttributes(&code, reinterpret_cast<const void*>(detail::probe_kernel<>)));
    architecture_ = code.ptxVersion;
  }
  // Waits for the work that is left.
  ~Cuda() {
    const detail::CurrentDevice current(ordinal_);
    ignore_error(cudaStreamSynchronize(copy_stream_.get()));
    if (blas_) deallocate(blas_->workspace(), blas_->bytes());
    deallocate(tickets_, most_tickets * sizeof(unsigned));
    ignore_error(cudaStreamSynchronize(stream_.get()));
    blas_.reset();
    convolution_library_.reset();
  }
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;

  std::string name() const { return concat("cuda:", ordinal_); }
  int ordinal() const { return ordinal_; }
  int multiprocessors() const { return multiprocessors_; }
  // The architecture that this program's code for the device was written for, 90 for sm_90: an older one than the device's
  // where the program has none for that.
  int architecture() const { return architecture_; }
  Precision precision() const { return precision_; }
  cudaStream_t stream() const { return stream_.get(); }
  cudaStream_t copy_stream() const { return copy_stream_.get(); }
  // Whether work on stream() is recorded (captured) and not done.
  bool is_recording() const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream(), &status));
    return status != cudaStreamCaptureStatusNone;
  }

  // cuBLAS and cuBLASLt on stream(); made at the first call.
  detail::Blas& blas() {
    if (!blas_) {
      const detail::CurrentDevice current(ordinal_);
      const std::size_t bytes = detail::Blas::workspace_bytes(ordinal_);
      detail::Blas blas(stream());
      blas.use_workspace(allocate(bytes), bytes);
      blas_ = std::move(blas);
    }
    return *blas_;
  }
  // Null before the first call of blas().
  const detail::Blas* made_blas() const { return blas_ ? &*blas_ : nullptr; }

  // Where a library for convolutions is kept, if the program has one; empty until it is needed.
  std::shared_ptr<detail::ConvolutionLibrary>& convolution_library() const { return convolution_library_; }

  // Counters by which the blocks of a kernel on stream() find out which of them is the last. 0 before and after every
  // kernel; made at the first call.
  static constexpr index_t most_tickets = 4096;
  unsigned* tickets() {
    if (!tickets_) {
      const detail::CurrentDevice current(ordinal_);
      constexpr std::size_t bytes = most_tickets * sizeof(unsigned);
      tickets_ = static_cast<unsigned*>(allocate(bytes));
      check(cudaMemsetAsync(tickets_, 0, bytes, stream()));
    }
    return tickets_;
  }

  // Aligned to 256 bytes. Work given after this call may use the memory.
  void* allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    const detail::CurrentDevice current(ordinal_);
    require_not_recording("memory is allocated");
    return memory_.allocate(bytes, stream());
  }
  // Work given before this call may still use the memory.
  void deallocate(void* memory, std::size_t bytes) noexcept {
    if (!memory) return;
    const detail::CurrentDevice current(ordinal_);
    memory_.deallocate(memory, bytes, stream());
  }
  detail::CudaMemory& memory() { return memory_; }
  const detail::CudaMemory& memory() const { return memory_; }

  // Bytes that tensors and models on the device hold, in blocks of 512: two floats are 512.
  std::size_t memory_allocated() const { return memory_.allocated(); }
  // The most of that since the device was made or reset_peak_memory_stats was called.
  std::size_t max_memory_allocated() const { return memory_.most_allocated(); }
  void reset_peak_memory_stats() { memory_.reset_most_allocated(); }
  // Bytes that the device has taken from the driver, in use or kept for later.
  std::size_t memory_reserved() const { return memory_.reserved(); }
  // Waits for the device and gives back to the driver what is not in use.
  void empty_cache() {
    synchronize();
    memory_.trim();
  }
  // Bytes of a whole GPU, all programs counted.
  struct MemoryInfo {
    std::size_t free, total;
  };
  MemoryInfo mem_get_info() const {
    const detail::CurrentDevice current(ordinal_);
    MemoryInfo info{};
    check(cudaMemGetInfo(&info.free, &info.total));
    return info;
  }

  // Does not wait for the device unless CUDA may go on reading `source` after the call: pinned memory, and on machines
  // where the GPU reads any host memory itself (Grace Hopper), which need no staging copy, all memory.
  void upload(void* target, const void* source, std::size_t bytes) {
    if (bytes == 0) return;
    const detail::CurrentDevice current(ordinal_);
    require_not_recording("host memory is copied");
    check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyHostToDevice, stream()));
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, source));
    if (reads_host_memory_ || attributes.type != cudaMemoryTypeUnregistered) check(cudaStreamSynchronize(stream()));
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
    const std::string why = why_not(ordinal);
    require(why.empty(), "gpunet::Cuda: ", why);
    return ordinal;
  }

  // CUDA takes such calls into a graph, but a replay would read host memory that is gone by then, or use device memory
  // that was freed.
  void require_not_recording(std::string_view what) const {
    require(!is_recording(), "gpunet::Cuda: ", what,
            " within a step (which can then not be recorded), do it before the step");
  }

  int ordinal_;
  Precision precision_;
  int multiprocessors_ = 1, architecture_ = 0;
  int reads_host_memory_ = 0;  // whether by the host's page tables
  detail::Stream stream_;
  detail::Stream copy_stream_;
  detail::CudaMemory memory_;
  std::optional<detail::Blas> blas_;
  mutable std::shared_ptr<detail::ConvolutionLibrary> convolution_library_;  // mutable: made when first asked of
  unsigned* tickets_ = nullptr;
};

}  // namespace GPUNET_BACKENDS

static_assert(Device<Cuda>);

}  // namespace gpunet
