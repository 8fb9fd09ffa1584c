// Shuffles, votes and atomics.
#pragma once

#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

#include "check.hpp"

namespace shuffle {

__device__ float warpSum(float v) {
  for (int o = 16; o > 0; o >>= 1)
    v += __shfl_down_sync(0xffffffffu, v, o);
  return v;
}
__global__ void reduce(const float* x, int n, float* out, int* cnt) {
  __shared__ float w[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 0;
  for (; i < n; i += gridDim.x * blockDim.x)
    v += x[i];
  v = warpSum(v);
  int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
  if (lane == 0) w[wid] = v;
  __syncthreads();
  if (wid == 0) {
    v = lane < (blockDim.x >> 5) ? w[lane] : 0.f;
    v = warpSum(v);
    if (lane == 0) {
      atomicAdd(out, v);
      atomicAdd(cnt, 1);
    }
  }
}
__global__ void votes(int* out) {
  unsigned b = __ballot_sync(~0u, threadIdx.x % 3 == 0);
  int a = __any_sync(~0u, threadIdx.x == 40);
  int al = __all_sync(~0u, threadIdx.x < 1000);
  int x = __shfl_xor_sync(~0u, (int)threadIdx.x, 1);
  unsigned act = 0;
  if (threadIdx.x & 1) act = __activemask();
  __syncwarp();
  int y = __shfl_sync(~0u, (int)threadIdx.x * 10, 5, 8);
  atomicMax(out + 200, (int)threadIdx.x);
  int old = atomicCAS(out + 201, 0, 7);
  out[threadIdx.x] = __popc(b) + a * 1000 + al * 10000 + x * 100000 + (act != 0) * 7 + y * 3;
  (void)old;
}
inline void run(int) {
  int n = 100000;
  std::vector<float> x(n);
  double ref = 0;
  for (int i = 0; i < n; ++i) {
    x[i] = ((i * 37) % 101) * 0.01f;
    ref += x[i];
  }
  float *dx, *ds;
  int* dc;
  CHECK_OK(cudaMalloc(&dx, n * 4));
  CHECK_OK(cudaMalloc(&ds, 4));
  CHECK_OK(cudaMalloc(&dc, 4));
  CHECK_OK(cudaMemset(ds, 0, 4));
  CHECK_OK(cudaMemset(dc, 0, 4));
  CHECK_OK(cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice));
  reduce<<<20, 256>>>(dx, n, ds, dc);
  CHECK_OK(cudaGetLastError());
  float s;
  int c;
  CHECK_OK(cudaMemcpy(&s, ds, 4, cudaMemcpyDeviceToHost));
  CHECK_OK(cudaMemcpy(&c, dc, 4, cudaMemcpyDeviceToHost));
  check("block reduction", std::fabs(s - ref) / ref < 1e-5 && c == 20);
  int* dv;
  CHECK_OK(cudaMalloc(&dv, 4 * 256));
  CHECK_OK(cudaMemset(dv, 0, 1024));
  votes<<<1, 64>>>(dv);
  CHECK_OK(cudaGetLastError());
  std::vector<int> v(256);
  CHECK_OK(cudaMemcpy(v.data(), dv, 1024, cudaMemcpyDeviceToHost));
  bool ok = v[200] == 63 && v[201] == 7;
  for (int t = 0; t < 64; ++t) {
    int w = t / 32;
    int pc = 0;
    for (int k = 0; k < 32; ++k)
      pc += ((w * 32 + k) % 3 == 0);
    int a = w == 1;
    int y = (((t % 32) / 8 * 8 + 5) + w * 32) * 10;
    int r = pc + a * 1000 + 10000 + (t ^ 1) * 100000 + (t & 1) * 7 + y * 3;
    if (r != v[t]) {
      ok = false;
      printf("t%d %d!=%d\n", t, v[t], r);
      break;
    }
  }
  check("votes", ok);
}

}  // namespace shuffle
