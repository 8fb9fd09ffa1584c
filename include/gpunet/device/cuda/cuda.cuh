// Bodies of cuda.hpp.
#pragma once

#include <optional>
#include <utility>

#include <gpunet/device/cuda/available.cuh>
#include <gpunet/device/cuda/blas.cuh>
#include <gpunet/device/cuda/cuda.hpp>
#include <gpunet/device/cuda/memory.cuh>

namespace gpunet {

inline namespace GPUNET_BACKENDS {

GPUNET_BACKENDS_INLINE int Cuda::device_count() {
  std::string why;
  return detail::count_devices(why);
}

GPUNET_BACKENDS_INLINE int Cuda::current_device() {
  std::string why;
  require(detail::count_devices(why) > 0, "gpunet::Cuda::current_device: ", why);
  int ordinal = 0;
  check(cudaGetDevice(&ordinal));
  return ordinal;
}

GPUNET_BACKENDS_INLINE std::string Cuda::get_device_name(int ordinal) {
  detail::require_device(ordinal, "Cuda::get_device_name");
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, ordinal));
  return device.name;
}

GPUNET_BACKENDS_INLINE std::string Cuda::why_not(int ordinal) {
  return detail::why_not(ordinal);
}

GPUNET_BACKENDS_INLINE std::string Cuda::why_not() {
  std::string why;
  return detail::count_devices(why) > 0 ? why_not(current_device()) : why;
}

struct Cuda::State {
  explicit State(int ordinal)
      : stream(detail::make_stream()), copy_stream(detail::make_stream()), memory(ordinal) {
    check(cudaDeviceGetAttribute(&reads_host_memory,
                                 cudaDevAttrPageableMemoryAccessUsesHostPageTables, ordinal));
  }

  detail::Stream stream, copy_stream;
  detail::CudaMemory memory;
  std::optional<detail::Blas> blas;
  std::shared_ptr<detail::ConvolutionLibrary> convolution_library;
  unsigned* tickets = nullptr;
  int reads_host_memory = 0;  // whether by the host's page tables
};

GPUNET_BACKENDS_INLINE Cuda::Cuda(int ordinal, CudaOptions options)
    : ordinal_(ordinal), precision_(options.precision) {
  detail::require_device(ordinal, "Cuda");
  check(cudaSetDevice(ordinal));
  const std::string why = why_not(ordinal);
  require(why.empty(), "gpunet::Cuda: ", why);
  state_ = std::make_unique<State>(ordinal);
  stream_ = state_->stream.get();
  copy_stream_ = state_->copy_stream.get();
  check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, ordinal));
  cudaFuncAttributes code{};
  check(cudaFuncGetAttributes(&code, reinterpret_cast<const void*>(detail::probe_kernel<>)));
  architecture_ = code.ptxVersion;
}

GPUNET_BACKENDS_INLINE Cuda::~Cuda() {
  const detail::CurrentDevice current(ordinal_);
  ignore_error(cudaStreamSynchronize(copy_stream()));
  if (const detail::Blas* blas = made_blas()) deallocate(blas->workspace(), blas->bytes());
  deallocate(state_->tickets, most_tickets * sizeof(unsigned));
  ignore_error(cudaStreamSynchronize(stream()));
  state_->blas.reset();
  state_->convolution_library.reset();
}

GPUNET_BACKENDS_INLINE std::string Cuda::name() const {
  return concat("cuda:", ordinal_);
}

GPUNET_BACKENDS_INLINE bool Cuda::is_recording() const {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream(), &status));
  return status != cudaStreamCaptureStatusNone;
}

GPUNET_BACKENDS_INLINE detail::Blas& Cuda::blas() {
  if (!state_->blas) {
    const detail::CurrentDevice current(ordinal_);
    const std::size_t bytes = detail::Blas::workspace_bytes(ordinal_);
    detail::Blas blas(stream());
    blas.use_workspace(allocate(bytes), bytes);
    state_->blas = std::move(blas);
  }
  return *state_->blas;
}

GPUNET_BACKENDS_INLINE const detail::Blas* Cuda::made_blas() const {
  return state_->blas ? &*state_->blas : nullptr;
}

GPUNET_BACKENDS_INLINE std::shared_ptr<detail::ConvolutionLibrary>& Cuda::convolution_library()
    const {
  return state_->convolution_library;
}

GPUNET_BACKENDS_INLINE unsigned* Cuda::tickets() {
  if (!state_->tickets) {
    const detail::CurrentDevice current(ordinal_);
    constexpr std::size_t bytes = most_tickets * sizeof(unsigned);
    state_->tickets = static_cast<unsigned*>(allocate(bytes));
    check(cudaMemsetAsync(state_->tickets, 0, bytes, stream()));
  }
  return state_->tickets;
}

GPUNET_BACKENDS_INLINE void* Cuda::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const detail::CurrentDevice current(ordinal_);
  require_not_recording("memory is allocated");
  return memory().allocate(bytes, stream());
}

GPUNET_BACKENDS_INLINE void Cuda::deallocate(void* memory, std::size_t bytes) noexcept {
  if (!memory) return;
  const detail::CurrentDevice current(ordinal_);
  state_->memory.deallocate(memory, bytes, stream());
}

GPUNET_BACKENDS_INLINE detail::CudaMemory& Cuda::memory() {
  return state_->memory;
}
GPUNET_BACKENDS_INLINE const detail::CudaMemory& Cuda::memory() const {
  return state_->memory;
}

GPUNET_BACKENDS_INLINE std::size_t Cuda::memory_allocated() const {
  return memory().allocated();
}
GPUNET_BACKENDS_INLINE std::size_t Cuda::max_memory_allocated() const {
  return memory().most_allocated();
}
GPUNET_BACKENDS_INLINE void Cuda::reset_peak_memory_stats() {
  memory().reset_most_allocated();
}
GPUNET_BACKENDS_INLINE std::size_t Cuda::memory_reserved() const {
  return memory().reserved();
}
GPUNET_BACKENDS_INLINE void Cuda::empty_cache() {
  synchronize();
  memory().trim();
}

GPUNET_BACKENDS_INLINE Cuda::MemoryInfo Cuda::mem_get_info() const {
  const detail::CurrentDevice current(ordinal_);
  MemoryInfo info{};
  check(cudaMemGetInfo(&info.free, &info.total));
  return info;
}

GPUNET_BACKENDS_INLINE void Cuda::upload(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  const detail::CurrentDevice current(ordinal_);
  require_not_recording("host memory is copied");
  check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyHostToDevice, stream()));
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, source));
  if (state_->reads_host_memory || attributes.type != cudaMemoryTypeUnregistered)
    check(cudaStreamSynchronize(stream()));
}

GPUNET_BACKENDS_INLINE void Cuda::download(void* target, const void* source, std::size_t bytes) {
  const detail::CurrentDevice current(ordinal_);
  if (bytes > 0) check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToHost, stream()));
  check(cudaStreamSynchronize(stream()));
}

GPUNET_BACKENDS_INLINE void Cuda::copy(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  const detail::CurrentDevice current(ordinal_);
  check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, stream()));
}

GPUNET_BACKENDS_INLINE void Cuda::synchronize() {
  const detail::CurrentDevice current(ordinal_);
  check(cudaStreamSynchronize(copy_stream()));
  check(cudaStreamSynchronize(stream()));
}

GPUNET_BACKENDS_INLINE void Cuda::require_not_recording(std::string_view what) const {
  require(!is_recording(), "gpunet::Cuda: ", what,
          " within a step (which can then not be recorded), do it before the step");
}

}  // namespace GPUNET_BACKENDS

namespace detail {

// Lets later work of `later` wait for all present work of `earlier`. The host does not wait.
inline void order(const Cuda& earlier, const Cuda& later) {
  const CurrentDevice current(earlier.ordinal());
  const Event reached = make_event();
  check(cudaEventRecord(reached.get(), earlier.stream()));
  check(cudaStreamWaitEvent(later.stream(), reached.get()));
}

}  // namespace detail

GPUNET_BACKENDS_INLINE void transfer(Host&, const void* source, Cuda& to, void* target,
                                     std::size_t bytes) {
  to.upload(target, source, bytes);
}

GPUNET_BACKENDS_INLINE void transfer(Cuda& from, const void* source, Host&, void* target,
                                     std::size_t bytes) {
  from.download(target, source, bytes);
}

GPUNET_BACKENDS_INLINE void transfer(Cuda& from, const void* source, Cuda& to, void* target,
                                     std::size_t bytes) {
  if (&from == &to) return to.copy(target, source, bytes);
  if (bytes == 0) return;
  from.memory().share_with(to.ordinal());
  to.memory().share_with(from.ordinal());
  detail::order(from, to);
  const detail::CurrentDevice current(to.ordinal());
  check(cudaMemcpyPeerAsync(target, to.ordinal(), source, from.ordinal(), bytes, to.stream()));
  detail::order(to, from);  // so that `from` may free or overwrite the source
}

}  // namespace gpunet
