// A tiled matrix product and math functions.
#pragma once

#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

#include "check.hpp"

namespace matmul {

__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
constexpr int T = 16;
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[T][T], Bs[T][T];
  int r = blockIdx.y * T + threadIdx.y, c = blockIdx.x * T + threadIdx.x;
  float s = 0;
  for (int t = 0; t < (K + T - 1) / T; ++t) {
    int ak = t * T + threadIdx.x, bk = t * T + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = (r < M && ak < K) ? A[r * K + ak] : 0.f;
    Bs[threadIdx.y][threadIdx.x] = (bk < K && c < N) ? B[bk * N + c] : 0.f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < T; ++k)
      s += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  if (r < M && c < N) C[r * N + c] = s;
}
__global__ void act(int n, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = tanhf(x[i]) + expf(x[i]) + 1.f / (1.f + __expf(-x[i])) + logf(1.f + fabsf(x[i])) +
           sqrtf(fabsf(x[i])) + sinf(x[i]);
}
inline void run(int) {
  int n = 1000;
  std::vector<float> x(n), y(n), y0;
  for (int i = 0; i < n; ++i) {
    x[i] = i * 0.5f;
    y[i] = i * 0.25f;
  }
  y0 = y;
  float *dx, *dy;
  CHECK_OK(cudaMalloc(&dx, n * 4));
  CHECK_OK(cudaMalloc(&dy, n * 4));
  CHECK_OK(cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK_OK(cudaMemcpy(dy, y.data(), n * 4, cudaMemcpyHostToDevice));
  saxpy<<<(n + 255) / 256, 256>>>(n, 2.f, dx, dy);
  CHECK_OK(cudaGetLastError());
  CHECK_OK(cudaDeviceSynchronize());
  CHECK_OK(cudaMemcpy(y.data(), dy, n * 4, cudaMemcpyDeviceToHost));
  double e = 0;
  for (int i = 0; i < n; ++i)
    e = std::max(e, (double)std::fabs(y[i] - (2.f * x[i] + y0[i])));
  check("saxpy", e < 1e-6);
  int M = 37, N = 45, K = 53;
  std::vector<float> A(M * K), B(K * N), C(M * N, -1);
  for (size_t i = 0; i < A.size(); ++i)
    A[i] = std::sin(0.1f * i);
  for (size_t i = 0; i < B.size(); ++i)
    B[i] = std::cos(0.07f * i);
  float *dA, *dB, *dC;
  CHECK_OK(cudaMalloc(&dA, A.size() * 4));
  CHECK_OK(cudaMalloc(&dB, B.size() * 4));
  CHECK_OK(cudaMalloc(&dC, C.size() * 4));
  CHECK_OK(cudaMemcpy(dA, A.data(), A.size() * 4, cudaMemcpyHostToDevice));
  CHECK_OK(cudaMemcpy(dB, B.data(), B.size() * 4, cudaMemcpyHostToDevice));
  matmul<<<dim3((N + T - 1) / T, (M + T - 1) / T), dim3(T, T)>>>(dA, dB, dC, M, N, K);
  CHECK_OK(cudaGetLastError());
  CHECK_OK(cudaMemcpy(C.data(), dC, C.size() * 4, cudaMemcpyDeviceToHost));
  e = 0;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double s = 0;
      for (int k = 0; k < K; ++k)
        s += (double)A[i * K + k] * B[k * N + j];
      e = std::max(e, std::fabs(s - C[i * N + j]));
    }
  check("matrix product", e < 1e-4);
  for (int i = 0; i < n; ++i)
    x[i] = (i - 500) * 0.01f;
  CHECK_OK(cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice));
  act<<<(n + 127) / 128, 128>>>(n, dx, dy);
  CHECK_OK(cudaGetLastError());
  CHECK_OK(cudaMemcpy(y.data(), dy, n * 4, cudaMemcpyDeviceToHost));
  e = 0;
  for (int i = 0; i < n; ++i) {
    double v = x[i];
    double r = std::tanh(v) + std::exp(v) + 1 / (1 + std::exp(-v)) + std::log(1 + std::fabs(v)) +
               std::sqrt(std::fabs(v)) + std::sin(v);
    e = std::max(e, std::fabs(r - y[i]) / std::max(1.0, std::fabs(r)));
  }
  check("math functions", e < 1e-5);
}

}  // namespace matmul
