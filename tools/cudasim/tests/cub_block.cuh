// cub::BlockReduce and cub::BlockScan.
#pragma once

#include <cmath>
#include <cstdio>
#include <cub/cub.cuh>
#include <vector>

#include "check.hpp"

namespace cub_block {

__global__ void k(const float* x, float* out, int n) {
  using BR = cub::BlockReduce<float, 128>;
  __shared__ typename BR::TempStorage ts;
  int i = blockIdx.x * 128 + threadIdx.x;
  float v = i < n ? x[i] : 0.f;
  float s = BR(ts).Sum(v);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}
__global__ void ks(const int* x, int* out) {
  using BS = cub::BlockScan<int, 128>;
  __shared__ typename BS::TempStorage ts;
  int v = x[threadIdx.x];
  BS(ts).InclusiveSum(v, v);
  out[threadIdx.x] = v;
}
inline void run(int) {
  int n = 1000;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i)
    x[i] = i * 0.125f;
  float *dx, *dout;
  CHECK_OK(cudaMalloc(&dx, n * 4));
  CHECK_OK(cudaMalloc(&dout, 8 * 4));
  CHECK_OK(cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice));
  k<<<8, 128>>>(dx, dout, n);
  CHECK_OK(cudaGetLastError());
  float o[8];
  CHECK_OK(cudaMemcpy(o, dout, 32, cudaMemcpyDeviceToHost));
  bool ok = true;
  for (int b = 0; b < 8; ++b) {
    double r = 0;
    for (int i = b * 128; i < std::min(n, b * 128 + 128); ++i)
      r += x[i];
    if (std::fabs(r - o[b]) > 1e-3 * r + 1e-6) {
      ok = false;
      printf("%d %g %g\n", b, o[b], r);
    }
  }
  check("BlockReduce", ok);
  std::vector<int> h(128);
  for (int i = 0; i < 128; ++i)
    h[i] = (i * 7) % 5;
  int *di, *d2;
  CHECK_OK(cudaMalloc(&di, 512));
  CHECK_OK(cudaMalloc(&d2, 512));
  CHECK_OK(cudaMemcpy(di, h.data(), 512, cudaMemcpyHostToDevice));
  ks<<<1, 128>>>(di, d2);
  CHECK_OK(cudaGetLastError());
  std::vector<int> g(128);
  CHECK_OK(cudaMemcpy(g.data(), d2, 512, cudaMemcpyDeviceToHost));
  int s = 0;
  ok = true;
  for (int i = 0; i < 128; ++i) {
    s += h[i];
    if (g[i] != s) ok = false;
  }
  check("BlockScan", ok);
}

}  // namespace cub_block
