// Each mode has one deliberate bug; bugs.txt says how it must show.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#include "check.hpp"

namespace bugs {

__global__ void oob(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] = 1;
}
__global__ void nosync(const float* x, float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void divbar(float* x) {
  if (threadIdx.x < 32) {
    __syncthreads();
    x[threadIdx.x] = 1;
  } else {
    while (((volatile float*)x)[0] != 1) {
    }
  }
}
__global__ void badmask(float* x) {
  if (threadIdx.x < 16)
    x[threadIdx.x] = __shfl_sync(0xffffffff, x[threadIdx.x], 0);
  else
    x[threadIdx.x] = __shfl_xor_sync(0xffffffff, x[threadIdx.x], 1);
}
__global__ void shoob(float* x) {
  __shared__ float s[32];
  for (int i = threadIdx.x; i <= 32 * 4; i += 32)
    s[i] = i;
  __syncthreads();
  x[threadIdx.x] = s[threadIdx.x];
}
__global__ void uninit(float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x] + 1;
}
__global__ void mis(float* x) {
  *(float4*)(x + 1) = make_float4(1, 2, 3, 4);
}
__global__ void inter(int* x) {
  int v = *x;
  *x = v + 1;
}
__global__ void lb(float* x) {
  x[threadIdx.x] = 1;
}
inline void run(int argument) {
  const int m = argument;
  float *x, *y;
  cudaMalloc(&x, 64 * 4);
  cudaMalloc(&y, 64 * 4);
  float h[64];
  for (int i = 0; i < 64; ++i)
    h[i] = i;
  cudaMemcpy(x, h, 256, cudaMemcpyHostToDevice);
  cudaError_t e = cudaSuccess;
  switch (m) {
    case 0:
      oob<<<1, 65>>>(x, 64);
      break;
    case 1:
      nosync<<<1, 64>>>(x, y);
      break;
    case 2:
      divbar<<<1, 64>>>(x);
      break;
    case 3:
      badmask<<<1, 32>>>(x);
      break;
    case 4:
      shoob<<<1, 32>>>(x);
      break;
    case 5: {
      float* u;
      cudaMalloc(&u, 256);
      uninit<<<1, 64>>>(u, y);
      break;
    }
    case 6:
      mis<<<1, 1>>>(x);
      break;
    case 7:
      oob<<<1, 64>>>(h, 10);
      break;
    case 8:
      printf("host read of device memory: ");
      fflush(stdout);
      printf("%g\n", x[3]);
      break;
    case 9:
      e = cudaMemcpy(x, h, 260, cudaMemcpyHostToDevice);
      break;
    case 10:
      e = cudaMemcpy(h, x, 256, cudaMemcpyHostToDevice);
      break;
    case 11:
      cudaFree(x);
      oob<<<1, 64>>>(x, 63);
      break;
    case 12:
      cudaFree(x);
      e = cudaFree(x);
      break;
    case 13:
      oob<<<1, 2048>>>(x, 1);
      break;
    case 14:
      oob<<<0, 64>>>(x, 1);
      break;
    case 15:
      nosync<<<1, 64, 60000>>>(x, y);
      break;
    case 16:
      oob<<<1, 64>>>(nullptr, 10);
      break;
    case 17:
      cudaMemset(x, 0, 4);
      inter<<<64, 1>>>((int*)x);
      break;
  }
  if (e == cudaSuccess) e = cudaGetLastError();
  cudaError_t e2 = cudaDeviceSynchronize();
  printf("mode %d: %s / %s", m, cudaGetErrorName(e), cudaGetErrorName(e2));
  if (m == 1) {
    cudaMemcpy(h, y, 256, cudaMemcpyDeviceToHost);
    bool ok = true;
    for (int i = 0; i < 64; ++i)
      if (!(h[i] == 63 - i)) ok = false;
    printf(" result %s (y[0]=%g)", ok ? "right (bug hidden)" : "WRONG (bug shown)", h[0]);
  }
  if (m == 5) {
    cudaMemcpy(h, y, 256, cudaMemcpyDeviceToHost);
    printf(" y[0]=%g", h[0]);
  }
  if (m == 17) {
    int k;
    cudaMemcpy(&k, x, 4, cudaMemcpyDeviceToHost);
    printf(" count %d of 64", k);
  }
  printf("\n");
}

}  // namespace bugs
