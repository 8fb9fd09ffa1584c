// Owners of the runtime's objects.
#pragma once

#include <cublasLt.h>
#include <memory>
#include <type_traits>

#include <gpunet/device/cuda/check.cuh>

namespace gpunet::detail {

// Makes a device current in this thread, and the one before it again at the end. An error here
// shows in the guarded calls too, which are checked.
class CurrentDevice {
 public:
  explicit CurrentDevice(int ordinal) noexcept : ordinal_(ordinal) {
    ignore_error(cudaGetDevice(&previous_));
    if (previous_ != ordinal_) ignore_error(cudaSetDevice(ordinal_));
  }
  ~CurrentDevice() {
    if (previous_ != ordinal_) ignore_error(cudaSetDevice(previous_));
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int ordinal_;
  int previous_ = 0;
};

inline int current_ordinal() noexcept {
  int ordinal = 0;
  ignore_error(cudaGetDevice(&ordinal));
  return ordinal;
}

// Destroys an object with the device current that was so when its owner was made.
template <auto destroy>
struct Destroy {
  int ordinal = current_ordinal();

  // Out of line: destructors are compiled into many places.
  template <class Handle>
  [[gnu::noinline]] void operator()(Handle handle) const noexcept {
    const CurrentDevice current(ordinal);
    ignore_error(destroy(handle));
  }
};

// The only owner of an object that the runtime knows by a pointer.
template <class Handle, auto destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy<destroy>>;

using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using MemoryPool = Owned<cudaMemPool_t, cudaMemPoolDestroy>;
using BlasHandle = Owned<cublasHandle_t, cublasDestroy_v2>;
using LtHandle = Owned<cublasLtHandle_t, cublasLtDestroy>;
using GraphHandle = Owned<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;

// A stream on the current device that does not wait for the default stream.
inline Stream make_stream() {
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

// An event on the current device; a host thread that waits for it sleeps.
inline Event make_event() {
  cudaEvent_t event;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync));
  return Event(event);
}

// A pool of device memory that keeps freed memory for the next allocation.
inline MemoryPool make_memory_pool(int ordinal) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = ordinal;
  cudaMemPool_t pool;
  check(cudaMemPoolCreate(&pool, &properties));
  MemoryPool owner(pool);
  std::uint64_t everything = ~std::uint64_t{0};
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything));
  return owner;
}

}  // namespace gpunet::detail
