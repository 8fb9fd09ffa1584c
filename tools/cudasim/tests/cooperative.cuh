// A barrier of the whole grid.
#pragma once

#include <cooperative_groups.h>
#include <cstdio>

#include "check.hpp"

namespace cooperative {

namespace cg = cooperative_groups;
__global__ void k(int *a, int *b) {
  auto g = cg::this_grid();
  int i = g.thread_rank();
  a[i] = i * 3;
  g.sync();
  int n = g.size();
  b[i] = a[(i + 129) % n];
}
inline void run(int) {
  int *a, *b;
  CHECK_OK(cudaMalloc(&a, 2048));
  CHECK_OK(cudaMalloc(&b, 2048));
  void *args[] = {&a, &b};
  CHECK_OK(cudaLaunchCooperativeKernel((void *)k, dim3(8), dim3(64), args, 0, 0));
  CHECK_OK(cudaDeviceSynchronize());
  int h[512];
  CHECK_OK(cudaMemcpy(h, b, 2048, cudaMemcpyDeviceToHost));
  bool ok = true;
  for (int i = 0; i < 512; ++i)
    if (h[i] != ((i + 129) % 512) * 3) ok = false;
  check("grid barrier", ok);
}

}  // namespace cooperative
