// Several devices. The argument is the number of devices that the program should see.
#pragma once

#include "check.hpp"

namespace devices {

__device__ int counter;
__global__ void set(int* p, int v) {
  *p = v;
}
__global__ void bump() {
  ++counter;
}
__global__ void peek(int* o) {
  *o = counter;
}
inline void run(int argument) {
  int want = argument, n = -1;
  cudaError_t e = cudaGetDeviceCount(&n);
  if (want == 0) {
    check("no device", e == cudaErrorNoDevice && n == 0);
    void* p = nullptr;
    cudaStream_t s;
    cudaDeviceProp pr;
    EXPECT(cudaMalloc(&p, 4), cudaErrorNoDevice);
    EXPECT(cudaSetDevice(0), cudaErrorNoDevice);
    EXPECT(cudaStreamCreate(&s), cudaErrorNoDevice);
    EXPECT(cudaGetDeviceProperties(&pr, 0), cudaErrorNoDevice);
    EXPECT(cudaDeviceSynchronize(), cudaErrorNoDevice);
    bump<<<1, 1>>>();
    EXPECT(cudaGetLastError(), cudaErrorNoDevice);
    return;
  }
  check("device count", e == cudaSuccess && n == want);
  EXPECT(cudaSetDevice(n), cudaErrorInvalidDevice);
  if (n < 2) return;
  int *a, *b, h = 0;
  CHECK_OK(cudaMalloc(&a, 4));
  set<<<1, 1>>>(a, 11);
  bump<<<1, 1>>>();
  CHECK_OK(cudaDeviceSynchronize());
  CHECK_OK(cudaSetDevice(1));
  CHECK_OK(cudaMalloc(&b, 4));
  bump<<<1, 1>>>();
  bump<<<1, 1>>>();
  peek<<<1, 1>>>(b);
  CHECK_OK(cudaMemcpy(&h, b, 4, cudaMemcpyDeviceToHost));
  check("variables are per device", h == 2);
  cudaPointerAttributes at;
  CHECK_OK(cudaPointerGetAttributes(&at, a));
  check("pointer attributes", at.device == 0 && at.type == cudaMemoryTypeDevice);
  CHECK_OK(cudaMemcpyPeer(b, 1, a, 0, 4));
  CHECK_OK(cudaMemcpy(&h, b, 4, cudaMemcpyDeviceToHost));
  check("cudaMemcpyPeer", h == 11);
  EXPECT(cudaMemcpyPeer(b, 0, a, 1, 4), cudaErrorInvalidValue);
  cudaStream_t s0, s1;
  CHECK_OK(cudaStreamCreate(&s1));
  CHECK_OK(cudaSetDevice(0));
  CHECK_OK(cudaStreamCreate(&s0));
  set<<<1, 1, 0, s1>>>(a, 1);
  EXPECT(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  // events between devices
  cudaEvent_t ev;
  CHECK_OK(cudaEventCreate(&ev));
  set<<<1, 1, 0, s0>>>(a, 21);
  CHECK_OK(cudaEventRecord(ev, s0));
  EXPECT(cudaEventRecord(ev, s1), cudaErrorInvalidResourceHandle);
  CHECK_OK(cudaSetDevice(1));
  CHECK_OK(cudaStreamWaitEvent(s1, ev, 0));
  CHECK_OK(cudaMemcpyPeerAsync(b, 1, a, 0, 4, s1));
  CHECK_OK(cudaStreamSynchronize(s1));
  CHECK_OK(cudaMemcpy(&h, b, 4, cudaMemcpyDeviceToHost));
  check("event between devices", h == 21);
  int can = 0;
  CHECK_OK(cudaDeviceCanAccessPeer(&can, 1, 0));
  CHECK_OK(cudaDeviceEnablePeerAccess(0, 0));
  set<<<1, 1>>>(a, 31);
  CHECK_OK(cudaDeviceSynchronize());
  CHECK_OK(cudaMemcpy(&h, a, 4, cudaMemcpyDeviceToHost));
  check("peer access", can && h == 31);
  EXPECT(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
  CHECK_OK(cudaDeviceDisablePeerAccess(0));
  set<<<1, 1>>>(a, 41);
  EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

}  // namespace devices
