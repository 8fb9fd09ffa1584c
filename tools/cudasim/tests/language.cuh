// Functions that are not inlined, recursion, printf, constant memory, local arrays, double, 64-bit
// division, device variables.
#pragma once

#include <cmath>
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <curand_kernel.h>

#include "check.hpp"

namespace language {

__constant__ float cw[8];
__device__ int gcount = 5;
struct P {
  int a[5];
  float b;
  double c;
};
__device__ __noinline__ int fib(int n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
__device__ __noinline__ P mk(P p, int k) {
  p.a[k % 5] += k;
  p.b *= 2;
  p.c += k;
  return p;
}
__global__ void k(P p, double* o, long long* li, __half* h) {
  int t = threadIdx.x;
  P q = mk(p, t);
  o[t] =
      q.a[t % 5] + q.b + q.c + cw[t % 8] + fib(t % 10) + exp((double)t * 0.1) + pow(1.0 + t, 0.3);
  li[t] = (1234567890123LL * (t + 1)) / (t * 7 + 3) + (1234567890123LL % (t + 11));
  float arr[16];
  for (int i = 0; i < 16; ++i)
    arr[(i * t) % 16] = i;
  h[t] = __hadd(__float2half(arr[t % 16]), __float2half(0.5f));
  atomicAdd(&gcount, 1);
  if (t == 3) printf("hello t=%d f=%.3f s=%s ll=%lld\n", t, 1.5f, "str", (long long)li[t]);
}
inline void run(int) {
  P p{{1, 2, 3, 4, 5}, 0.5f, 1.25};
  float w[8];
  for (int i = 0; i < 8; ++i)
    w[i] = i * 0.1f;
  CHECK_OK(cudaMemcpyToSymbol(cw, w, 32));
  double* o;
  long long* li;
  __half* h;
  CHECK_OK(cudaMalloc(&o, 256));
  CHECK_OK(cudaMalloc(&li, 256));
  CHECK_OK(cudaMalloc(&h, 64));
  k<<<1, 32>>>(p, o, li, h);
  CHECK_OK(cudaGetLastError());
  CHECK_OK(cudaDeviceSynchronize());
  double ho[32];
  long long hl[32];
  __half hh[32];
  CHECK_OK(cudaMemcpy(ho, o, 256, cudaMemcpyDeviceToHost));
  CHECK_OK(cudaMemcpy(hl, li, 256, cudaMemcpyDeviceToHost));
  CHECK_OK(cudaMemcpy(hh, h, 64, cudaMemcpyDeviceToHost));
  int g;
  CHECK_OK(cudaMemcpyFromSymbol(&g, gcount, 4));
  bool ok = g == 37;
  auto fb = [](auto&& s, int n) -> int {
    return n < 2 ? n : s(s, n - 1) + s(s, n - 2);
  };
  for (int t = 0; t < 32; ++t) {
    P q = p;
    q.a[t % 5] += t;
    q.b *= 2;
    q.c += t;
    double r = q.a[t % 5] + q.b + q.c + w[t % 8] + fb(fb, t % 10) + std::exp(t * 0.1) +
               std::pow(1.0 + t, 0.3);
    long long l = (1234567890123LL * (t + 1)) / (t * 7 + 3) + (1234567890123LL % (t + 11));
    if (std::fabs(r - ho[t]) > 1e-9 * r || l != hl[t]) {
      ok = false;
      printf("t%d %g %g %lld %lld\n", t, r, ho[t], l, hl[t]);
    }
    float arr[16] = {};
    for (int i = 0; i < 16; ++i)
      arr[(i * t) % 16] = i;
    if ((t & 1) && __half2float(hh[t]) != arr[t % 16] + 0.5f) {
      ok = false;
      printf("half t%d %g %g\n", t, __half2float(hh[t]), arr[t % 16] + .5f);
    }
  }
  check("functions, memory spaces, wide types", ok);
}

}  // namespace language
