// Counts calls of the CUDA runtime. For one unit of a program: it defines functions of the runtime.
#pragma once

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>

// Replaces functions of the CUDA runtime that wait for the device, launch work, copy from it, or
// allocate or free memory. The whole test program calls these; they count and call the real ones.
// (cudaMalloc and cudaFree are already defined otherwise in CUDA sources; gpunet calls neither.)
namespace {

thread_local int waits = 0, event_waits = 0, copies_back = 0, allocations = 0, launches = 0,
                 recordings = 0;
thread_local std::size_t pinned = 0;  // bytes
thread_local bool no_memory_for_graphs = false;

// Returns the real function of this name and type.
template <class F>
F* real(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define COUNTED(counter, name, parameters, arguments)             \
  extern "C" cudaError_t name parameters {                        \
    ++counter;                                                    \
    static const auto next = real<cudaError_t parameters>(#name); \
    return next arguments;                                        \
  }

COUNTED(waits, cudaDeviceSynchronize, (), ())
COUNTED(waits, cudaStreamSynchronize, (cudaStream_t stream), (stream))
COUNTED(event_waits, cudaEventSynchronize, (cudaEvent_t event), (event))
COUNTED(waits, cudaStreamQuery, (cudaStream_t stream), (stream))
COUNTED(waits, cudaEventQuery, (cudaEvent_t event), (event))
COUNTED(waits, cudaMemcpy, (void* to, const void* from, size_t n, cudaMemcpyKind kind),
        (to, from, n, kind))
COUNTED(waits, cudaMemset, (void* to, int value, size_t n), (to, value, n))
COUNTED(allocations, cudaMallocAsync, (void** memory, size_t n, cudaStream_t stream),
        (memory, n, stream))
COUNTED(allocations, cudaMallocFromPoolAsync,
        (void** memory, size_t n, cudaMemPool_t pool, cudaStream_t stream),
        (memory, n, pool, stream))
COUNTED(allocations, cudaMallocManaged, (void** memory, size_t n, unsigned flags),
        (memory, n, flags))
COUNTED(allocations, cudaHostAlloc, (void** memory, size_t n, unsigned flags), (memory, n, flags))
COUNTED(allocations, cudaFreeAsync, (void* memory, cudaStream_t stream), (memory, stream))
COUNTED(allocations, cudaFreeHost, (void* memory), (memory))
COUNTED(launches, cudaLaunchKernel,
        (const void* kernel, dim3 blocks, dim3 threads, void** arguments, size_t shared,
         cudaStream_t stream),
        (kernel, blocks, threads, arguments, shared, stream))

// Fails if a test requests it, as without memory for the graph.
extern "C" cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph,
                                            unsigned long long flags) {
  static const auto next =
      real<cudaError_t(cudaGraphExec_t*, cudaGraph_t, unsigned long long)>("cudaGraphInstantiate");
  ++recordings;
  return no_memory_for_graphs ? cudaErrorMemoryAllocation : next(made, graph, flags);
}

extern "C" cudaError_t cudaMallocHost(void** memory, size_t n) {
  static const auto next = real<cudaError_t(void**, size_t)>("cudaMallocHost");
  ++allocations;
  pinned += n;
  return next(memory, n);
}

// Has a name of its own in the source: CUDA sources define the other one, for kernels.
extern "C" cudaError_t counted_copy(void* to, const void* from, size_t n, cudaMemcpyKind kind,
                                    cudaStream_t stream) asm("cudaMemcpyAsync");
cudaError_t counted_copy(void* to, const void* from, size_t n, cudaMemcpyKind kind,
                         cudaStream_t stream) {
  static const auto next =
      real<cudaError_t(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t)>(
          "cudaMemcpyAsync");
  copies_back += kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice;
  return next(to, from, n, kind, stream);
}

namespace {

// Counts the calls of this thread while this object exists.
class Calls {
 public:
  int waits() const { return ::waits - waits_; }
  int event_waits() const { return ::event_waits - event_waits_; }
  int copies_back() const { return ::copies_back - copies_back_; }  // to the host
  int allocations() const { return ::allocations - allocations_; }
  int launches() const { return ::launches - launches_; }  // of kernels, recorded or executed
  int recordings() const { return ::recordings - recordings_; }
  std::size_t pinned() const { return ::pinned - pinned_; }  // bytes of host memory

 private:
  int waits_ = ::waits, event_waits_ = ::event_waits, copies_back_ = ::copies_back;
  int allocations_ = ::allocations, launches_ = ::launches, recordings_ = ::recordings;
  std::size_t pinned_ = ::pinned;
};

// Returns whether the host did not wait, copy anything back, or allocate or free memory.
void check_quiet(const Calls& calls) {
  CHECK(calls.waits() == 0);
  CHECK(calls.copies_back() == 0);
  CHECK(calls.allocations() == 0);
}

}  // namespace
