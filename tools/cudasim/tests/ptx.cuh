// Single PTX instructions against plain loops; most need sm_80 or sm_90.
#pragma once

#include <cmath>
#include <cuda_bf16.h>
#include <vector>

#include "check.hpp"

namespace ptx {

using B16 = __nv_bfloat16;
// k16: a 16x16 and b 16x8 by rows; k8: a 16x8 and b 8x8 by rows
__global__ void mmaBf(const B16* a, const B16* b, float* c, int k8) {
#if __CUDA_ARCH__ >= 800
  int l = threadIdx.x, g = l / 4, t = l % 4, K = k8 ? 8 : 16;
  auto pair = [](B16 x, B16 y) {
    __nv_bfloat162 p = {x, y};
    return *(unsigned*)&p;
  };
  auto A = [&](int r, int col) {
    return pair(a[r * K + col], a[r * K + col + 1]);
  };
  auto B = [&](int r) {
    return pair(b[r * 8 + g], b[(r + 1) * 8 + g]);
  };
  float C[4] = {0, 0, 0, 0};
  if (k8)
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
        "{%0,%1,%2,%3};"
        : "+f"(C[0]), "+f"(C[1]), "+f"(C[2]), "+f"(C[3])
        : "r"(A(g, t * 2)), "r"(A(g + 8, t * 2)), "r"(B(t * 2)));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(C[0]), "+f"(C[1]), "+f"(C[2]), "+f"(C[3])
        : "r"(A(g, t * 2)), "r"(A(g + 8, t * 2)), "r"(A(g, t * 2 + 8)), "r"(A(g + 8, t * 2 + 8)),
          "r"(B(t * 2)), "r"(B(t * 2 + 8)));
  for (int s = 0; s < 4; ++s)
    c[(g + s / 2 * 8) * 8 + t * 2 + s % 2] = C[s];
#endif
}
__global__ void ldm(unsigned short* o) {
  __shared__ __align__(16) unsigned short s[4][8][8];
  int l = threadIdx.x;
  for (int i = l; i < 256; i += 32)
    (&s[0][0][0])[i] = (unsigned short)i;
  __syncwarp();
  unsigned r[4], p = (unsigned)__cvta_generic_to_shared(&s[l / 8][l % 8][0]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(p));
  o[l * 2] = (unsigned short)r[0];
  o[l * 2 + 1] = (unsigned short)(r[0] >> 16);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(p));
  for (int k = 0; k < 4; ++k) {
    o[64 + k * 64 + l * 2] = (unsigned short)r[k];
    o[64 + k * 64 + l * 2 + 1] = (unsigned short)(r[k] >> 16);
  }
#if __CUDA_ARCH__ >= 900
  __syncwarp();
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(p), "r"(r[0]),
               "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
  __syncwarp();
  for (int i = l; i < 256; i += 32)
    o[320 + i] = (&s[0][0][0])[i];
#endif
}
__global__ void hints(const float* x, float* o) {
#if __CUDA_ARCH__ >= 800
  __shared__ __align__(16) float s[8];
  unsigned p = (unsigned)__cvta_generic_to_shared(s);
  unsigned long long pol;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(pol));
  asm volatile("prefetch.global.L2 [%0];" ::"l"(x));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(p), "l"(x + 1));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, 4;" ::"r"(p + 8), "l"(x + 2));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(p + 16),
               "l"(x + 4), "l"(pol));
  asm volatile("cp.async.wait_all;");
  o[0] = s[0];
  for (int i = 2; i < 8; ++i)
    o[i] = s[i];
  asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(o[1]) : "l"(x + 5), "l"(pol));
#endif
}
inline void run(int) {
  cudaDeviceProp p;
  CHECK_OK(cudaGetDeviceProperties(&p, 0));
  unsigned short *O, o[576];
  CHECK_OK(cudaMalloc(&O, sizeof o));
  ldm<<<1, 32>>>(O);
  CHECK_OK(cudaMemcpy(o, O, sizeof o, cudaMemcpyDeviceToHost));
  bool x1 = true, x4 = true, st = true;
  for (int l = 0; l < 32; ++l)
    for (int h = 0; h < 2; ++h) {
      x1 &= o[l * 2 + h] == (l / 4) * 8 + (l % 4) * 2 + h;
      for (int k = 0; k < 4; ++k)
        x4 &= o[64 + k * 64 + l * 2 + h] == k * 64 + ((l % 4) * 2 + h) * 8 + l / 4;
    }
  for (int i = 0; i < 256 && p.major >= 9; ++i)
    st &= o[320 + i] == i / 64 * 64 + i % 8 * 8 + i / 8 % 8;
  check("ldmatrix x1", x1);
  check("ldmatrix x4 trans", x4);
  check("stmatrix", st);
  if (p.major < 8) return;
  std::vector<B16> a(256), b(128);
  for (int i = 0; i < 256; ++i)
    a[i] = (B16)((float)(i * 37 % 101 - 50) / 64);
  for (int i = 0; i < 128; ++i)
    b[i] = (B16)((float)(i * 53 % 97 - 48) / 64);
  B16 *A, *B;
  float *C, c[128];
  CHECK_OK(cudaMalloc(&A, 512));
  CHECK_OK(cudaMalloc(&B, 256));
  CHECK_OK(cudaMalloc(&C, sizeof c));
  CHECK_OK(cudaMemcpy(A, a.data(), 512, cudaMemcpyHostToDevice));
  CHECK_OK(cudaMemcpy(B, b.data(), 256, cudaMemcpyHostToDevice));
  for (int k8 = 0; k8 < 2; ++k8) {
    mmaBf<<<1, 32>>>(A, B, C, k8);
    CHECK_OK(cudaMemcpy(c, C, sizeof c, cudaMemcpyDeviceToHost));
    int K = k8 ? 8 : 16;
    double w = 0;
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 8; ++j) {
        double s = 0;
        for (int q = 0; q < K; ++q)
          s += (double)(float)a[i * K + q] * (double)(float)b[q * 8 + j];
        w = std::fmax(w, std::fabs(s - c[i * 8 + j]));
      }
    check(k8 ? "mma m16n8k8 bf16" : "mma m16n8k16 bf16", w < 1e-5);
  }
  float x[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  CHECK_OK(cudaMemcpy(C, x, sizeof x, cudaMemcpyHostToDevice));
  hints<<<1, 1>>>(C, C + 8);
  CHECK_OK(cudaMemcpy(c, C + 8, 32, cudaMemcpyDeviceToHost));
  check("cp.async sizes and cache hints",
        c[0] == 1 && c[1] == 5 && c[2] == 2 && c[3] == 0 && c[4] == 4 && c[7] == 7);
}

}  // namespace ptx
