// The Cuda policy: one GPU. Bodies are in cuda.cuh, so that units that no CUDA compiler reads can
// have it too.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/device/device.hpp>

#if GPUNET_CUDA

struct CUstream_st;  // CUDA's, of a stream

namespace gpunet {

namespace detail {
class Blas;                // device/cuda/blas.cuh
class ConvolutionLibrary;  // ops/conv2d/library.hpp
class CudaMemory;          // device/cuda/memory.cuh
}  // namespace detail

// How a Cuda is made.
struct CudaOptions {
  Precision precision = Precision::exact;  // see Precision
};

inline namespace GPUNET_BACKENDS {

// A GPU as a device: a stream that all work goes to, in order, a second one for copies from the
// host that run beside it, memory from a pool of its own, and cuBLAS. One thread at a time may give
// it work.
class Cuda {
 public:
  // Number of devices, 0 where there is no driver.
  static int device_count();
  // The device that this thread's CUDA calls use.
  static int current_device();
  // As the maker names it. Throws Error when there is no such device.
  static std::string get_device_name(int ordinal);
  // Why a device cannot be used, as one sentence; empty when a kernel of this program ran on it.
  // Asked once per device.
  static std::string why_not(int ordinal);
  // The same of the current device.
  static std::string why_not();
  static bool is_available() { return why_not().empty(); }

  // Takes the device of this number, which becomes the current one of this thread. Throws Error
  // when there is no such device or it cannot run the kernels of this program.
  explicit Cuda(int ordinal = 0, CudaOptions options = {});
  // Waits for the work that is left.
  ~Cuda();
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;

  std::string name() const;
  int ordinal() const { return ordinal_; }
  int multiprocessors() const { return multiprocessors_; }
  // The architecture that this program's code for the device was written for, 90 for sm_90: an
  // older one than the device's where the program has none for that.
  int architecture() const { return architecture_; }
  Precision precision() const { return precision_; }
  // CUDA's streams, where work and copies from the host are put in order.
  CUstream_st* stream() const { return stream_; }
  CUstream_st* copy_stream() const { return copy_stream_; }
  // Whether work on stream() is recorded (captured) and not done.
  bool is_recording() const;

  // cuBLAS and cuBLASLt on stream(); made at the first call.
  detail::Blas& blas();
  // Null before the first call of blas().
  const detail::Blas* made_blas() const;

  // Where a library for convolutions is kept, if the program has one; empty until it is needed.
  std::shared_ptr<detail::ConvolutionLibrary>& convolution_library() const;

  // Counters by which the blocks of a kernel on stream() find out which of them is the last. 0
  // before and after every kernel; made at the first call.
  static constexpr index_t most_tickets = 4096;
  unsigned* tickets();

  // Aligned to 256 bytes. Work given after this call may use the memory.
  void* allocate(std::size_t bytes);
  // Work given before this call may still use the memory.
  void deallocate(void* memory, std::size_t bytes) noexcept;
  detail::CudaMemory& memory();
  const detail::CudaMemory& memory() const;

  // Bytes that tensors and models on the device hold, in blocks of 512: two floats are 512.
  std::size_t memory_allocated() const;
  // The most of that since the device was made or reset_peak_memory_stats was called.
  std::size_t max_memory_allocated() const;
  void reset_peak_memory_stats();
  // Bytes that the device has taken from the driver, in use or kept for later.
  std::size_t memory_reserved() const;
  // Waits for the device and gives unused memory back to the driver.
  void empty_cache();
  // Bytes of a whole GPU, all programs counted.
  struct MemoryInfo {
    std::size_t free, total;
  };
  MemoryInfo mem_get_info() const;

  // Does not wait for the device unless CUDA may go on reading `source` after the call: pinned
  // memory, and on machines where the GPU reads any host memory itself (Grace Hopper), which need
  // no staging copy, all memory.
  void upload(void* target, const void* source, std::size_t bytes);
  void download(void* target, const void* source, std::size_t bytes);
  void copy(void* target, const void* source, std::size_t bytes);
  void synchronize();

 private:
  struct State;  // has members of CUDA's types

  // CUDA takes such calls into a graph, but a replay would read host memory that is gone by then,
  // or use device memory that was freed.
  void require_not_recording(std::string_view what) const;

  int ordinal_;
  Precision precision_;
  int multiprocessors_ = 1, architecture_ = 0;
  std::unique_ptr<State> state_;
  CUstream_st *stream_, *copy_stream_;
};

}  // namespace GPUNET_BACKENDS

// Bytes from and to Cuda by the shortest way.
void transfer(Host& from, const void* source, Cuda& to, void* target, std::size_t bytes);
void transfer(Cuda& from, const void* source, Host& to, void* target, std::size_t bytes);
// From one GPU to another, straight where they have a way, or between two streams of one. The host
// does not wait.
void transfer(Cuda& from, const void* source, Cuda& to, void* target, std::size_t bytes);

// Returns the end of an error message about memory: nothing, CUDA's own errors state the free
// memory.
inline std::string free_memory_text(const Cuda&) {
  return "";
}

static_assert(Device<Cuda>);

}  // namespace gpunet

#if GPUNET_NVCC && !GPUNET_COMPILED
#include <gpunet/device/cuda/cuda.cuh>
#endif

#else

namespace gpunet {

inline namespace GPUNET_BACKENDS {

// The policy Cuda in a unit without CUDA: answers to the questions about GPUs. There are no objects
// of it.
class Cuda {
 public:
  Cuda() = delete;

  // Why no GPU can be used, as one sentence; empty when a kernel of this program ran on one.
  static std::string why_not() {
    return "gpunet not compiled with CUDA enabled, link gpunet::cuda or compile with nvcc";
  }
  static std::string why_not(int) { return why_not(); }
  static bool is_available() { return false; }
  static int device_count() { return 0; }
  [[noreturn]] static int current_device() {
    throw_error(Error("gpunet::Cuda::current_device: " + why_not()));
  }
  [[noreturn]] static std::string get_device_name(int) {
    throw_error(Error("gpunet::Cuda::get_device_name: " + why_not()));
  }
};

}  // namespace GPUNET_BACKENDS

}  // namespace gpunet

#endif
