// Ordering bugs: invisible when work runs immediately (CUDASIM_ASYNC=0, argument 0), visible with
// CUDASIM_ASYNC=1 (argument 1).
#pragma once

#include <cstring>

#include "check.hpp"

namespace async {

__global__ void fill(float* x, float v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = v;
}
__global__ void twice(float* o, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = 2 * x[i];
}
static void hostSet(void* p) {
  *(int*)p = 7;
}
inline void run(int argument) {
  const bool late = argument == 1;
  const int n = 256;
  float *a, *b, *h;
  CHECK_OK(cudaMalloc(&a, n * 4));
  CHECK_OK(cudaMalloc(&b, n * 4));
  CHECK_OK(cudaMallocHost(&h, n * 4));
  cudaStream_t s, t;
  CHECK_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK_OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t e;
  CHECK_OK(cudaEventCreate(&e));
  // 1: reading a pinned buffer before the stream is synchronized
  h[0] = -1;
  fill<<<1, n, 0, s>>>(a, 3, n);
  CHECK_OK(cudaMemcpyAsync(h, a, n * 4, cudaMemcpyDeviceToHost, s));
  float early = h[0];
  CHECK_OK(cudaStreamSynchronize(s));
  check("pinned buffer read too early", late ? early == -1 : early == 3);
  check("pinned buffer after synchronize", h[0] == 3);
  // 2: a missing event wait between two streams
  CHECK_OK(cudaMemset(a, 0, n * 4));
  CHECK_OK(cudaDeviceSynchronize());
  fill<<<1, n, 0, s>>>(a, 5, n);
  twice<<<1, n, 0, t>>>(b, a, n);
  CHECK_OK(cudaMemcpyAsync(h, b, n * 4, cudaMemcpyDeviceToHost, t));
  CHECK_OK(cudaStreamSynchronize(t));
  check("missing event wait", late ? h[0] == 0 : h[0] == 10);
  CHECK_OK(cudaDeviceSynchronize());
  // 3: the same with the wait
  CHECK_OK(cudaMemset(a, 0, n * 4));
  CHECK_OK(cudaDeviceSynchronize());
  fill<<<1, n, 0, s>>>(a, 5, n);
  CHECK_OK(cudaEventRecord(e, s));
  CHECK_OK(cudaStreamWaitEvent(t, e, 0));
  twice<<<1, n, 0, t>>>(b, a, n);
  CHECK_OK(cudaMemcpyAsync(h, b, n * 4, cudaMemcpyDeviceToHost, t));
  CHECK_OK(cudaStreamSynchronize(t));
  check("with the event wait", h[0] == 10);
  // 4: a pinned source changed too early
  h[0] = 1;
  CHECK_OK(cudaMemcpyAsync(a, h, 4, cudaMemcpyHostToDevice, s));
  h[0] = 2;
  CHECK_OK(cudaStreamSynchronize(s));
  float one;
  CHECK_OK(cudaMemcpy(&one, a, 4, cudaMemcpyDeviceToHost));
  check("pinned source changed too early", late ? one == 2 : one == 1);
  // 5: a pageable source is staged
  float pg = 4;
  CHECK_OK(cudaMemcpyAsync(a, &pg, 4, cudaMemcpyHostToDevice, s));
  pg = 9;
  CHECK_OK(cudaStreamSynchronize(s));
  CHECK_OK(cudaMemcpy(&one, a, 4, cudaMemcpyDeviceToHost));
  check("pageable source", one == 4);
  // 6: legacy default stream ordering with a blocking stream
  cudaStream_t bs;
  CHECK_OK(cudaStreamCreate(&bs));
  fill<<<1, n>>>(a, 6, n);
  twice<<<1, n, 0, bs>>>(b, a, n);
  fill<<<1, n>>>(a, 0, n);
  CHECK_OK(cudaStreamSynchronize(bs));
  CHECK_OK(cudaMemcpy(&one, b + 3, 4, cudaMemcpyDeviceToHost));
  check("legacy stream ordering", one == 12);
  // 7: events and queries
  int flag = 0;
  CHECK_OK(cudaLaunchHostFunc(s, hostSet, &flag));
  CHECK_OK(cudaEventRecord(e, s));
  check("host function", late ? flag == 0 : flag == 7);
  int polls = 0;
  while (cudaEventQuery(e) == cudaErrorNotReady)
    ++polls;
  check("event query", flag == 7 && (late ? polls > 0 : polls == 0));
  CHECK_OK(cudaLaunchHostFunc(s, hostSet, &flag));
  flag = 0;
  while (cudaStreamQuery(s) == cudaErrorNotReady) {
  }
  // 8: unified memory read without synchronize
  float* mg;
  CHECK_OK(cudaMallocManaged(&mg, n * 4));
  mg[0] = 0;
  fill<<<1, n, 0, s>>>(mg, 8, n);
  early = mg[0];
  CHECK_OK(cudaDeviceSynchronize());
  check("managed memory read too early", late ? early == 0 : early == 8);
  check("managed memory after synchronize", mg[0] == 8);
  // 9: a stream destroyed with work in it still does the work
  fill<<<1, n, 0, t>>>(mg, 9, n);
  CHECK_OK(cudaStreamDestroy(t));
  CHECK_OK(cudaDeviceSynchronize());
  check("work of a destroyed stream", mg[0] == 9);
  // 10: cudaFree waits, a pool free in the wrong stream does not
  CHECK_OK(cudaMallocAsync(&b, n * 4, s));
  CHECK_OK(cudaStreamSynchronize(s));
  CHECK_OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  fill<<<1, n, 0, s>>>(b, 1, n);
  CHECK_OK(cudaFreeAsync(b, t));
  CHECK_OK(cudaStreamSynchronize(t));
  cudaError_t r = cudaStreamSynchronize(s);
  check("pool free in the wrong stream", late ? r == cudaErrorIllegalAddress : r == cudaSuccess);
}

}  // namespace async
