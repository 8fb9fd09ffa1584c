// Collectives over the simulated devices.
#pragma once

#include <cuda_fp16.h>
#include <nccl.h>
#include <thread>
#include <vector>

#include "check.hpp"

namespace nccl {

__global__ void fill(float* x, float v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = v + i;
}
const int N = 4, n = 64;
inline void run(int) {
  ncclComm_t comm[N];
  CHECK_OK(ncclCommInitAll(comm, N, nullptr));
  float *x[N], *y[N];
  cudaStream_t s[N];
  for (int r = 0; r < N; ++r) {
    CHECK_OK(cudaSetDevice(r));
    CHECK_OK(cudaMalloc(&x[r], n * 4));
    CHECK_OK(cudaMalloc(&y[r], n * 4));
    CHECK_OK(cudaStreamCreateWithFlags(&s[r], cudaStreamNonBlocking));
  }
  auto fillAll = [&] {
    for (int r = 0; r < N; ++r) {
      CHECK_OK(cudaSetDevice(r));
      fill<<<1, n, 0, s[r]>>>(x[r], 100.f * r, n);
    }
  };
  std::vector<float> h(n);
  auto get = [&](float* p, int r) {
    CHECK_OK(cudaSetDevice(r));
    CHECK_OK(cudaStreamSynchronize(s[r]));
    CHECK_OK(cudaMemcpy(h.data(), p, n * 4, cudaMemcpyDeviceToHost));
    return h[5];
  };
  auto group = [&](auto f) {
    CHECK_OK(ncclGroupStart());
    for (int r = 0; r < N; ++r)
      CHECK_OK(f(r));
    CHECK_OK(ncclGroupEnd());
  };
  fillAll();
  group([&](int r) { return ncclAllReduce(x[r], y[r], n, ncclFloat, ncclSum, comm[r], s[r]); });
  bool ok = true;
  for (int r = N; r-- > 0;)
    ok &= get(y[r], r) == 600 + 4 * 5;
  check("ncclAllReduce", ok);
  group([&](int r) { return ncclAllReduce(x[r], x[r], n, ncclFloat, ncclMax, comm[r], s[r]); });
  check("ncclAllReduce in place, max", get(x[2], 2) == 305);
  fillAll();
  group([&](int r) { return ncclBroadcast(x[r], y[r], n, ncclFloat, 2, comm[r], s[r]); });
  check("ncclBroadcast", get(y[0], 0) == 205 && get(y[3], 3) == 205);
  group([&](int r) { return ncclReduce(x[r], y[r], n, ncclFloat, ncclAvg, 1, comm[r], s[r]); });
  check("ncclReduce", get(y[1], 1) == 155 && get(y[0], 0) == 205);
  group([&](int r) { return ncclAllGather(x[r], y[r], n / N, ncclFloat, comm[r], s[r]); });
  get(y[3], 3);
  check("ncclAllGather", h[n / N + 1] == 101 && h[3 * n / N + 2] == 302);
  group([&](int r) {
    return ncclReduceScatter(x[r], y[r], n / N, ncclFloat, ncclSum, comm[r], s[r]);
  });
  get(y[2], 2);
  check("ncclReduceScatter", h[1] == 600 + 4 * (2 * n / N + 1));
  check("buffer of another device",
        ncclAllReduce(x[1], x[1], n, ncclFloat, ncclSum, comm[0], s[0]) == ncclInvalidArgument);
  check("buffer too small",
        ncclAllGather(x[0], y[0], n, ncclFloat, comm[0], s[0]) == ncclInvalidArgument);
  CHECK_OK(ncclGroupStart());
  for (int r = 0; r < N; ++r)
    CHECK_OK(ncclAllReduce(x[r], y[r], r == 3 ? n / 2 : n, ncclFloat, ncclSum, comm[r], s[r]));
  check("counts that disagree", ncclGroupEnd() == ncclInvalidUsage);
  for (int r = 0; r < N; ++r)
    CHECK_OK(ncclCommDestroy(comm[r]));
  // one thread per rank
  ncclUniqueId id;
  CHECK_OK(ncclGetUniqueId(&id));
  std::vector<std::thread> th;
  std::vector<int> good(N, 0);
  for (int r = 0; r < N; ++r)
    th.emplace_back([&, r] {
      CHECK_OK(cudaSetDevice(r));
      ncclComm_t c;
      CHECK_OK(ncclCommInitRank(&c, N, id, r));
      int rank, count, dev;
      CHECK_OK(ncclCommUserRank(c, &rank));
      CHECK_OK(ncclCommCount(c, &count));
      CHECK_OK(ncclCommCuDevice(c, &dev));
      good[r] = rank == r && count == N && dev == r;
      for (int it = 0; it < 5; ++it) {
        fill<<<1, n, 0, s[r]>>>(x[r], 10.f * r + it, n);
        CHECK_OK(ncclAllReduce(x[r], y[r], n, ncclFloat, ncclSum, c, s[r]));
        float v;
        CHECK_OK(cudaMemcpyAsync(&v, y[r] + 3, 4, cudaMemcpyDeviceToHost, s[r]));
        CHECK_OK(cudaStreamSynchronize(s[r]));
        good[r] &= v == 60 + 4 * (it + 3);
      }
      CHECK_OK(ncclCommDestroy(c));
    });
  for (auto& t : th)
    t.join();
  check("one thread per rank", good[0] && good[1] && good[2] && good[3]);
}

}  // namespace nccl
