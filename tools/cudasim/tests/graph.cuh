// Stream capture and graphs.
#pragma once

#include <vector>

#include "check.hpp"

namespace graph {

__global__ void add(float* x, float v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += v;
}
__global__ void sum(float* o, const float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = a[i] + b[i];
}
inline void run(int) {
  const int n = 300;
  float *a, *b, *o, *h;
  CHECK_OK(cudaMalloc(&a, n * 4));
  CHECK_OK(cudaMalloc(&b, n * 4));
  CHECK_OK(cudaMalloc(&o, n * 4));
  CHECK_OK(cudaMallocHost(&h, n * 4));
  cudaStream_t s, t;
  CHECK_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK_OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t fork, join;
  CHECK_OK(cudaEventCreate(&fork));
  CHECK_OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  auto capture = [&](float v, cudaGraph_t* g) {
    CHECK_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK_OK(cudaMemsetAsync(a, 0, n * 4, s));
    CHECK_OK(cudaEventRecord(fork, s));
    CHECK_OK(cudaStreamWaitEvent(t, fork, 0));
    CHECK_OK(cudaMemsetAsync(b, 0, n * 4, t));
    add<<<2, 160, 0, t>>>(b, 10 * v, n);
    add<<<2, 160, 0, s>>>(a, v, n);
    CHECK_OK(cudaEventRecord(join, t));
    CHECK_OK(cudaStreamWaitEvent(s, join, 0));
    sum<<<2, 160, 0, s>>>(o, a, b, n);
    CHECK_OK(cudaMemcpyAsync(h, o, n * 4, cudaMemcpyDeviceToHost, s));
    cudaStreamCaptureStatus st;
    unsigned long long id = 0;
    CHECK_OK(cudaStreamIsCapturing(t, &st));
    check("forked stream is capturing", st == cudaStreamCaptureStatusActive);
    CHECK_OK(cudaStreamGetCaptureInfo(s, &st, &id, nullptr, nullptr, nullptr, nullptr));
    check("capture info", st == cudaStreamCaptureStatusActive && id != 0);
    CHECK_OK(cudaStreamEndCapture(s, g));
    CHECK_OK(cudaStreamIsCapturing(t, &st));
    check("capture has ended", st == cudaStreamCaptureStatusNone);
  };
  for (int i = 0; i < n; ++i)
    h[i] = -1;
  cudaGraph_t g, g2;
  capture(1, &g);
  CHECK_OK(cudaStreamSynchronize(s));
  check("capture runs nothing", h[0] == -1);
  size_t k = 0;
  CHECK_OK(cudaGraphGetNodes(g, nullptr, &k));
  check("node count", k == 6);
  CHECK_OK(cudaGraphGetRootNodes(g, nullptr, &k));
  check("root count", k == 1);
  CHECK_OK(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &k));
  check("edge count", k == 6);
  cudaGraphExec_t x;
  CHECK_OK(cudaGraphInstantiate(&x, g, 0));
  CHECK_OK(cudaGraphUpload(x, s));
  CHECK_OK(cudaGraphLaunch(x, s));
  CHECK_OK(cudaStreamSynchronize(s));
  bool ok = true;
  for (int i = 0; i < n; ++i)
    ok &= h[i] == 11;
  check("launch", ok);
  for (int r = 0; r < 5; ++r)
    CHECK_OK(cudaGraphLaunch(x, s));
  CHECK_OK(cudaStreamSynchronize(s));
  check("launch again", h[n - 1] == 11);
  capture(2, &g2);
  cudaGraphExecUpdateResultInfo info;
  CHECK_OK(cudaGraphExecUpdate(x, g2, &info));
  CHECK_OK(cudaGraphLaunch(x, s));
  CHECK_OK(cudaStreamSynchronize(s));
  check("update", h[0] == 22 && info.result == cudaGraphExecUpdateSuccess);
  CHECK_OK(cudaGraphDestroy(g2));
  CHECK_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  add<<<2, 160, 0, s>>>(a, 1, n);
  CHECK_OK(cudaStreamEndCapture(s, &g2));
  EXPECT(cudaGraphExecUpdate(x, g2, &info), cudaErrorGraphExecUpdateFailure);
  check("update result", info.result == cudaGraphExecUpdateErrorTopologyChanged);
  CHECK_OK(cudaGraphLaunch(x, s));  // the failed update changed nothing
  CHECK_OK(cudaStreamSynchronize(s));
  check("after a failed update", h[0] == 22);
  // arguments by hand
  cudaGraphNode_t nodes[1];
  k = 1;
  CHECK_OK(cudaGraphGetNodes(g2, nodes, &k));
  cudaGraphExec_t y;
  CHECK_OK(cudaGraphInstantiateWithFlags(&y, g2, 0));
  cudaKernelNodeParams p;
  CHECK_OK(cudaGraphKernelNodeGetParams(nodes[0], &p));
  float v = 5;
  int nn = n;
  void* args[] = {&a, &v, &nn};
  p.kernelParams = args;
  CHECK_OK(cudaGraphExecKernelNodeSetParams(y, nodes[0], &p));
  CHECK_OK(cudaMemset(a, 0, n * 4));
  CHECK_OK(cudaDeviceSynchronize());
  CHECK_OK(cudaGraphLaunch(y, s));
  CHECK_OK(cudaStreamSynchronize(s));
  float one;
  CHECK_OK(cudaMemcpy(&one, a + 7, 4, cudaMemcpyDeviceToHost));
  check("kernel node parameters", one == 5);
  // memory nodes
  cudaGraph_t g3;
  CHECK_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  float* tmp;
  CHECK_OK(cudaMallocAsync(&tmp, n * 4, s));
  CHECK_OK(cudaMemsetAsync(tmp, 0, n * 4, s));
  add<<<2, 160, 0, s>>>(tmp, 3, n);
  CHECK_OK(cudaMemcpyAsync(h, tmp, n * 4, cudaMemcpyDeviceToHost, s));
  CHECK_OK(cudaFreeAsync(tmp, s));
  CHECK_OK(cudaStreamEndCapture(s, &g3));
  cudaGraphExec_t z;
  CHECK_OK(cudaGraphInstantiate(&z, g3, 0));
  CHECK_OK(cudaGraphLaunch(z, s));
  CHECK_OK(cudaGraphLaunch(z, s));
  CHECK_OK(cudaStreamSynchronize(s));
  check("memory nodes", h[17] == 3);
  // illegal calls
  auto bad = [&](const char* name, cudaError_t want, auto call,
                 cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    CHECK_OK(cudaStreamBeginCapture(s, mode));
    add<<<1, 1, 0, s>>>(a, 1, n);
    cudaError_t e = call();
    cudaStreamCaptureStatus st;
    CHECK_OK(cudaStreamIsCapturing(s, &st));
    cudaGraph_t q = (cudaGraph_t)1;
    cudaError_t f = cudaStreamEndCapture(s, &q);
    cudaGetLastError();
    check(name, e == want && st == cudaStreamCaptureStatusInvalidated &&
                    f == cudaErrorStreamCaptureInvalidated && !q);
  };
  void* m;
  auto U = cudaErrorStreamCaptureUnsupported;
  bad("cudaMalloc in a capture", U, [&] { return cudaMalloc(&m, 4); });
  bad("cudaFree in a capture", U, [&] { return cudaFree(b); });
  bad(
      "cudaStreamSynchronize in a capture", U, [&] { return cudaStreamSynchronize(s); },
      cudaStreamCaptureModeRelaxed);
  bad("cudaDeviceSynchronize in a capture", U, [&] { return cudaDeviceSynchronize(); });
  bad("cudaStreamQuery in a capture", U, [&] { return cudaStreamQuery(s); });
  bad("cudaMemcpy in a capture", U, [&] { return cudaMemcpy(&one, a, 4, cudaMemcpyDeviceToHost); });
  CHECK_OK(cudaEventRecord(fork, t));
  bad(
      "event query in a capture", U, [&] { return cudaEventQuery(fork); },
      cudaStreamCaptureModeGlobal);
  bad("wait for an outside event", cudaErrorStreamCaptureIsolation,
      [&] { return cudaStreamWaitEvent(s, fork, 0); });
  CHECK_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  check("cudaMalloc in a relaxed capture", cudaMalloc(&m, 4) == cudaSuccess);
  CHECK_OK(cudaEventRecord(fork, s));
  CHECK_OK(cudaStreamWaitEvent(t, fork, 0));
  add<<<1, 1, 0, t>>>(a, 1, n);
  EXPECT(cudaStreamEndCapture(s, &g3), cudaErrorStreamCaptureUnjoined);
  EXPECT(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  cudaStream_t bl;
  CHECK_OK(cudaStreamCreate(&bl));
  CHECK_OK(cudaStreamBeginCapture(bl, cudaStreamCaptureModeRelaxed));
  add<<<1, 1>>>(a, 1, n);
  EXPECT(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
  EXPECT(cudaStreamEndCapture(bl, &g3), cudaErrorStreamCaptureInvalidated);
  CHECK_OK(cudaGraphExecDestroy(x));
  CHECK_OK(cudaGraphExecDestroy(y));
  CHECK_OK(cudaGraphDestroy(g));
  EXPECT(cudaGraphLaunch(x, s), cudaErrorInvalidValue);
  CHECK_OK(cudaStreamDestroy(s));
  CHECK_OK(cudaDeviceSynchronize());
}

}  // namespace graph
