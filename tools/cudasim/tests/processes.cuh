// NCCL between processes, each with one rank: the test starts itself once for each.
#pragma once

#include <cstdlib>
#include <cstring>
#include <nccl.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "check.hpp"

namespace processes {

enum Mode { FINE = 1, DIES, DISAGREES, LATE };

__global__ void fill(float* x, float v, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    x[i] = v + i % 7;
}

// One rank.
inline void runRank(Mode mode, int rank, int count) {
  ncclUniqueId id{};
  std::strncpy(id.internal, std::getenv("CUDASIM_TEST_ID"), sizeof id.internal - 1);
  ncclComm_t c;
  if (mode == LATE) {  // the last rank does not come
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclResult_t state = ncclSuccess;
    check("in progress", ncclCommInitRankConfig(&c, count, id, rank, &config) == ncclInProgress);
    check("remains so", ncclCommGetAsyncError(c, &state) == ncclSuccess && state == ncclInProgress);
    CHECK_OK(ncclCommAbort(c));
    return;
  }
  CHECK_OK(ncclCommInitRank(&c, count, id, rank));
  const int n = 300000;  // 1.2 MB: more than one part
  float *x, *y;
  CHECK_OK(cudaMalloc(&x, n * 4));
  CHECK_OK(cudaMalloc(&y, n * 4 * count));
  cudaStream_t s;
  CHECK_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  fill<<<4, 64, 0, s>>>(x, 10.f * rank, n);
  if (mode == DISAGREES) {
    CHECK_OK(ncclAllReduce(x, y, rank == 1 ? n / 2 : n, ncclFloat, ncclSum, c, s));
    check("a call of another size", cudaStreamSynchronize(s) != cudaSuccess);
    return;
  }
  if (mode == DIES) {
    if (rank == 1) _exit(0);
    CHECK_OK(ncclAllReduce(x, y, n, ncclFloat, ncclSum, c, s));
    std::thread waiting(
        [&] { check("the wait ends by ncclCommAbort", cudaStreamSynchronize(s) == cudaSuccess); });
    ncclResult_t state = ncclSuccess;
    while (state == ncclSuccess)
      CHECK_OK(ncclCommGetAsyncError(c, &state));
    check("a rank has ended", state == ncclRemoteError);
    CHECK_OK(ncclCommAbort(c));
    waiting.join();
    return;
  }
  std::vector<float> h((size_t)n * count);
  const auto get = [&](const float* p, int size) {
    CHECK_OK(cudaMemcpyAsync(h.data(), p, size * 4ul, cudaMemcpyDeviceToHost, s));
    CHECK_OK(cudaStreamSynchronize(s));
  };
  const auto all = [&](float first, float step, int size) {
    for (int i = 0; i < size; ++i)
      if (h[i] != first + step * (i % 7)) return false;
    return true;
  };
  const float sum = 5.f * count * (count - 1);
  CHECK_OK(ncclAllReduce(x, y, n, ncclFloat, ncclSum, c, s));
  get(y, n);
  check("ncclAllReduce", all(sum, count, n));
  CHECK_OK(ncclBroadcast(x, y, n, ncclFloat, 1, c, s));
  get(y, n);
  check("ncclBroadcast", all(10, 1, n));
  CHECK_OK(ncclReduce(x, y, n, ncclFloat, ncclMax, 1, c, s));
  get(y, n);
  check("ncclReduce", all(rank == 1 ? 10.f * (count - 1) : 10, 1, n));
  CHECK_OK(ncclAllGather(x, y, n, ncclFloat, c, s));
  get(y, n * count);
  bool ok = true;
  for (int r = 0; r < count; ++r)
    for (int i = 0; i < n; ++i)
      ok &= h[(size_t)r * n + i] == 10.f * r + i % 7;
  check("ncclAllGather", ok);
  CHECK_OK(ncclReduceScatter(y, x, n / count, ncclFloat, ncclSum, c, s));
  get(x, n / count);
  ok = true;
  // y is the same on all ranks; these are elements of its first n.
  for (int i = 0; i < n / count; ++i)
    ok &= h[i] == count * (float)((i + rank * (n / count)) % 7);
  check("ncclReduceScatter", ok);
  fill<<<4, 64, 0, s>>>(x, 10.f * rank, n);
  CHECK_OK(ncclGroupStart());
  for (int r = 0; r < count; ++r) {  // an odd number to each, in two messages
    const int part = n / 5 + r, half = part / 2;
    CHECK_OK(ncclSend(x, half, ncclFloat, r, c, s));
    CHECK_OK(ncclSend(x + half, part - half, ncclFloat, r, c, s));
    const int mine = n / 5 + rank, first = mine / 2;
    CHECK_OK(ncclRecv(y + r * mine, first, ncclFloat, r, c, s));
    CHECK_OK(ncclRecv(y + r * mine + first, mine - first, ncclFloat, r, c, s));
  }
  CHECK_OK(ncclGroupEnd());
  const int mine = n / 5 + rank;
  get(y, count * mine);
  ok = true;
  for (int i = 0; i < count * mine; ++i)
    ok &= h[i] == 10.f * (i / mine) + i % mine % 7;
  check("ncclSend and ncclRecv", ok);
  CHECK_OK(ncclAllReduce(x, x, 0, ncclFloat, ncclSum, c, s));
  // Recorded with a kernel, on a second stream that is joined, and run several times.
  cudaStream_t other;
  cudaEvent_t fork, join;
  CHECK_OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CHECK_OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK_OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  fill<<<4, 64, 0, s>>>(x, 10.f * rank, n);
  CHECK_OK(cudaEventRecord(fork, s));
  CHECK_OK(cudaStreamWaitEvent(other, fork, 0));
  CHECK_OK(ncclAllReduce(x, x, n, ncclFloat, ncclSum, c, other));
  CHECK_OK(cudaEventRecord(join, other));
  CHECK_OK(cudaStreamWaitEvent(s, join, 0));
  CHECK_OK(ncclAllReduce(x, y, n, ncclFloat, ncclMax, c, s));
  CHECK_OK(cudaStreamEndCapture(s, &graph));
  CHECK_OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(cudaGraphLaunch(exec, s));
    get(y, n);
    check("in a graph", all(sum, count, n));
  }
  CHECK_OK(cudaGraphExecDestroy(exec));
  CHECK_OK(ncclCommDestroy(c));
}

// Starts the ranks; all of them have to end well.
inline void runAll(Mode mode, int count, int started) {
  ncclUniqueId id;
  CHECK_OK(ncclGetUniqueId(&id));
  std::vector<pid_t> pids;
  for (int r = 0; r < started; ++r) {
    const pid_t pid = fork();
    if (pid == 0) {
      setenv("CUDASIM_TEST_ID", id.internal, 1);
      setenv("RANK", std::to_string(r).c_str(), 1);
      setenv("WORLD_SIZE", std::to_string(count).c_str(), 1);
      if (mode != FINE) {  // work that runs in the call itself would wait there
        setenv("CUDASIM_ASYNC", "1", 1);
        unsetenv("CUDASIM_SEED");
      }
      execl("/proc/self/exe", "tests", "processes", std::to_string(mode).c_str(), (char*)nullptr);
      _exit(127);
    }
    pids.push_back(pid);
  }
  bool ok = true;
  for (pid_t pid : pids) {
    int status = -1;
    ok &= waitpid(pid, &status, 0) == pid && status == 0;
  }
  static const char* const names[] = {"", "all collectives", "a rank ends", "ranks that disagree",
                                      "a rank does not come"};
  check((std::to_string(count) + " processes: " + names[mode]).c_str(), ok);
  check("no file is left", access((std::string("/dev/shm/") + id.internal).c_str(), F_OK) != 0);
}

inline void run(int mode) {
  if (mode != 0 && std::getenv("CUDASIM_TEST_ID"))
    return runRank((Mode)mode, std::atoi(std::getenv("RANK")),
                   std::atoi(std::getenv("WORLD_SIZE")));
  runAll(FINE, 2, 2);
  runAll(FINE, 4, 4);
  runAll(DIES, 2, 2);
  runAll(DISAGREES, 2, 2);
  runAll(LATE, 2, 1);
}

}  // namespace processes
