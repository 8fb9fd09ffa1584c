// A barrier of the whole grid, and how many blocks run at a time. The argument is the number of
// multiprocessors that the program should see.
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
inline void run(int multiprocessors) {
  int *a, *b, seen = 0, each = 0;
  CHECK_OK(cudaDeviceGetAttribute(&seen, cudaDevAttrMultiProcessorCount, 0));
  cudaDeviceProp properties;
  CHECK_OK(cudaGetDeviceProperties(&properties, 0));
  check("multiprocessors",
        seen == multiprocessors && properties.multiProcessorCount == multiprocessors);
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
  CHECK_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, k, 1024, 0));
  const dim3 one_more(each * multiprocessors + 1);
  EXPECT(cudaLaunchCooperativeKernel((void *)k, one_more, dim3(1024), args, 0, 0),
         cudaErrorCooperativeLaunchTooLarge);
}

}  // namespace cooperative
