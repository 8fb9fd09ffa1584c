// Matrix instructions, cp.async, redux, match, activemask, vector atomics against plain loops.
#pragma once

#include <cmath>
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <vector>

#include "check.hpp"

namespace tensor {

using namespace nvcuda;
static unsigned seed = 1;
static float rnd() {
  seed = seed * 1664525u + 1013904223u;
  return (float)(int)(seed >> 8) / (1 << 23) - 1;
}
static float tf32(float f, bool nearest) {
  union {
    float f;
    unsigned u;
  } c{f};
  c.u = (c.u + (nearest ? 0x1000 : 0)) & ~0x1fffu;
  return c.f;
}
template <class TI, class TO, class LA, class LB, int M, int N, int K>
__global__ void wm(const TI* a, const TI* b, TO* c) {
  wmma::fragment<wmma::matrix_a, M, N, K, TI, LA> A;
  wmma::fragment<wmma::matrix_b, M, N, K, TI, LB> B;
  wmma::fragment<wmma::accumulator, M, N, K, TO> C;
  wmma::fill_fragment(C, (TO)1.f);
  const bool ra = std::is_same_v<LA, wmma::row_major>, rb = std::is_same_v<LB, wmma::row_major>;
  for (int k = 0; k < 2; ++k) {  // two steps of K
    wmma::load_matrix_sync(A, a + (ra ? k * K : k * K * M), ra ? 2 * K : M);
    wmma::load_matrix_sync(B, b + (rb ? k * K * N : k * K), rb ? N : 2 * K);
    wmma::mma_sync(C, A, B, C);
  }
  for (int i = 0; i < C.num_elements; ++i)
    C.x[i] = C.x[i] * (TO)0.5f;
  wmma::store_matrix_sync(c, C, N, wmma::mem_row_major);
}
template <class TI, class TO, class LA, class LB, int M, int N, int K>
void testW(const char* name, double tol) {
  std::vector<TI> a(M * 2 * K), b(2 * K * N);
  for (auto& x : a)
    x = (TI)rnd();
  for (auto& x : b)
    x = (TI)rnd();
  TI *A, *B;
  TO* C;
  CHECK_OK(cudaMalloc(&A, a.size() * sizeof(TI)));
  CHECK_OK(cudaMalloc(&B, b.size() * sizeof(TI)));
  CHECK_OK(cudaMalloc(&C, M * N * sizeof(TO)));
  CHECK_OK(cudaMemcpy(A, a.data(), a.size() * sizeof(TI), cudaMemcpyHostToDevice));
  CHECK_OK(cudaMemcpy(B, b.data(), b.size() * sizeof(TI), cudaMemcpyHostToDevice));
  wm<TI, TO, LA, LB, M, N, K><<<1, 32>>>(A, B, C);
  CHECK_OK(cudaGetLastError());
  std::vector<TO> c(M * N);
  CHECK_OK(cudaMemcpy(c.data(), C, c.size() * sizeof(TO), cudaMemcpyDeviceToHost));
  const bool ra = std::is_same_v<LA, wmma::row_major>, rb = std::is_same_v<LB, wmma::row_major>;
  double w = 0;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double s = 1;
      for (int q = 0; q < 2 * K; ++q)
        s += (double)(float)a[ra ? i * 2 * K + q : q * M + i] *
             (double)(float)b[rb ? q * N + j : j * 2 * K + q];
      double d = std::fabs(0.5 * s - (double)(float)c[i * N + j]);
      if (!(d <= w)) w = d;
    }
  check(name, w < tol);
}
// One 16x8 product from shared memory by ldmatrix and mma.sync. a is 16x16 by rows, b is 16x8 by
// rows.
__global__ void mmaK16(const __half* a, const __half* b, float* c) {
#if __CUDA_ARCH__ >= 800
  __shared__ __align__(16) __half sa[256], sb[128];
  int l = threadIdx.x;
  for (int i = l; i < 256; i += 32)
    sa[i] = a[i];
  for (int i = l; i < 128; i += 32)
    sb[i] = b[i];
  __syncwarp();
  unsigned A[4], B[2];
  unsigned pa = (unsigned)__cvta_generic_to_shared(sa + (l % 16) * 16 + (l / 16) * 8);
  unsigned pb = (unsigned)__cvta_generic_to_shared(sb + (l % 16) * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(A[0]), "=r"(A[1]), "=r"(A[2]), "=r"(A[3])
               : "r"(pa));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(B[0]), "=r"(B[1])
               : "r"(pb));
  float C[4] = {0, 0, 0, 0};
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(C[0]), "+f"(C[1]), "+f"(C[2]), "+f"(C[3])
      : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
  int g = l / 4, t = l % 4;
  c[g * 8 + t * 2] = C[0];
  c[g * 8 + t * 2 + 1] = C[1];
  c[(g + 8) * 8 + t * 2] = C[2];
  c[(g + 8) * 8 + t * 2 + 1] = C[3];
#endif
}
// A 16x8 by rows, b 8x8 by rows.
__global__ void mmaK8(const __half* a, const __half* b, float* c) {
  int l = threadIdx.x, g = l / 4, t = l % 4;
  __half2 A[2] = {{a[g * 8 + t * 2], a[g * 8 + t * 2 + 1]},
                  {a[(g + 8) * 8 + t * 2], a[(g + 8) * 8 + t * 2 + 1]}};
  __half2 B = {b[(t * 2) * 8 + g], b[(t * 2 + 1) * 8 + g]};
  float C[4] = {0, 0, 0, 0};
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%0,%1,%2,%3};"
      : "+f"(C[0]), "+f"(C[1]), "+f"(C[2]), "+f"(C[3])
      : "r"(*(unsigned*)&A[0]), "r"(*(unsigned*)&A[1]), "r"(*(unsigned*)&B));
  for (int s = 0; s < 4; ++s)
    c[(g + s / 2 * 8) * 8 + t * 2 + s % 2] = C[s];
}
__global__ void mmaTf(const float* a, const float* b, float* c) {  // a 16x8 by rows, b 8x8 by rows
#if __CUDA_ARCH__ >= 800
  int l = threadIdx.x, g = l / 4, t = l % 4;
  unsigned A[4], B[2];
  float av[4] = {a[g * 8 + t], a[(g + 8) * 8 + t], a[g * 8 + t + 4], a[(g + 8) * 8 + t + 4]};
  float bv[2] = {b[t * 8 + g], b[(t + 4) * 8 + g]};
  for (int i = 0; i < 4; ++i)
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(A[i]) : "f"(av[i]));
  for (int i = 0; i < 2; ++i)
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(B[i]) : "f"(bv[i]));
  float C[4] = {0, 0, 0, 0};
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(C[0]), "+f"(C[1]), "+f"(C[2]), "+f"(C[3])
      : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
  for (int s = 0; s < 4; ++s)
    c[(g + s / 2 * 8) * 8 + t * 2 + s % 2] = C[s];
#endif
}
__global__ void wmTf(const float* a, const float* b, float* c) {  // a 16x8 by rows, b 8x16 by rows
#if __CUDA_ARCH__ >= 800
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> A;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> B;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> C;
  wmma::load_matrix_sync(A, a, 8);
  wmma::load_matrix_sync(B, b, 16);
  for (int i = 0; i < A.num_elements; ++i)
    A.x[i] = wmma::__float_to_tf32(A.x[i]);
  for (int i = 0; i < B.num_elements; ++i)
    B.x[i] = wmma::__float_to_tf32(B.x[i]);
  wmma::fill_fragment(C, 0.f);
  wmma::mma_sync(C, A, B, C);
  wmma::store_matrix_sync(c, C, 16, wmma::mem_col_major);
#endif
}
__global__ void cpAsync(const float4* x, float* o, int wait) {
#if __CUDA_ARCH__ >= 800
  __shared__ float4 s[2][32];
  int t = threadIdx.x;
  s[0][t] = s[1][t] = make_float4(-1, -1, -1, -1);
  for (int g = 0; g < 2; ++g) {
    unsigned p = (unsigned)__cvta_generic_to_shared(&s[g][t]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(p), "l"(x + g * 32 + t));
    asm volatile("cp.async.commit_group;");
  }
  if (wait == 1) asm volatile("cp.async.wait_group 1;");
  if (wait == 2) asm volatile("cp.async.wait_group 0;");
  if (wait == 3) asm volatile("cp.async.wait_all;");
  o[2 * t] = s[0][t].y;
  o[2 * t + 1] = s[1][t].z;
#endif
}
__global__ void warpOps(unsigned* o) {
  unsigned t = threadIdx.x;
  unsigned m = __activemask();
  unsigned odd = 0, size = 0;
  if (t & 1) {
    odd = __activemask();
    size = cooperative_groups::coalesced_threads().size();
  }
  o[t * 5] = m;
  o[t * 5 + 1] = odd;
  o[t * 5 + 2] = size;
  o[t * 5 + 3] = __match_any_sync(~0u, t / 5);
#if __CUDA_ARCH__ >= 800
  o[t * 5 + 4] = __reduce_add_sync(~0u, t) + 1000 * __reduce_max_sync(~0u, t);
#else
  o[t * 5 + 4] = 496 + 31000;
#endif
}
__global__ void vecAtom(float2* p, float4* q, __half2* h) {
#if __CUDA_ARCH__ >= 900
  atomicAdd(p, make_float2(1, 2));
  atomicAdd(q, make_float4(1, 2, 3, 4));
#else
  atomicAdd(&p->x, 1);
  atomicAdd(&p->y, 2);
  atomicAdd(&q->w, 4);
#endif
  atomicAdd(h, __floats2half2_rn(1, 2));
}
inline void run(int) {
  cudaDeviceProp p;
  CHECK_OK(cudaGetDeviceProperties(&p, 0));
  const bool new80 = p.major >= 8;
  using R = wmma::row_major;
  using L = wmma::col_major;
  testW<__half, float, R, L, 16, 16, 16>("wmma f16 row col", 1e-4);
  testW<__half, float, R, R, 16, 16, 16>("wmma f16 row row", 1e-4);
  testW<__half, float, L, R, 16, 16, 16>("wmma f16 col row", 1e-4);
  testW<__half, float, L, L, 16, 16, 16>("wmma f16 col col", 1e-4);
  testW<__half, __half, R, L, 16, 16, 16>("wmma f16 accumulator", 1e-2);
  testW<__half, float, R, L, 32, 8, 16>("wmma m32n8k16", 1e-4);
  testW<__half, float, R, R, 8, 32, 16>("wmma m8n32k16", 1e-4);
#if __CUDA_ARCH_LIST__ >= 800
  testW<__nv_bfloat16, float, R, L, 16, 16, 16>("wmma bf16", 1e-4);
  testW<__nv_bfloat16, float, L, R, 16, 16, 16>("wmma bf16 col row", 1e-4);
#endif
  __half ha[256], hb[128];
  float fa[128], fb[128], got[256];
  for (auto& x : ha)
    x = (__half)rnd();
  for (auto& x : hb)
    x = (__half)rnd();
  for (auto& x : fa)
    x = rnd();
  for (auto& x : fb)
    x = rnd();
  __half *A, *B;
  float *C, *FA, *FB;
  CHECK_OK(cudaMalloc(&A, sizeof ha));
  CHECK_OK(cudaMalloc(&B, sizeof hb));
  CHECK_OK(cudaMalloc(&FA, sizeof fa));
  CHECK_OK(cudaMalloc(&FB, sizeof fb));
  CHECK_OK(cudaMalloc(&C, sizeof got));
  CHECK_OK(cudaMemcpy(A, ha, sizeof ha, cudaMemcpyHostToDevice));
  CHECK_OK(cudaMemcpy(B, hb, sizeof hb, cudaMemcpyHostToDevice));
  CHECK_OK(cudaMemcpy(FA, fa, sizeof fa, cudaMemcpyHostToDevice));
  CHECK_OK(cudaMemcpy(FB, fb, sizeof fb, cudaMemcpyHostToDevice));
  auto check_product = [&](const char* name, int m, int n, int k, auto a, auto b,
                           bool colC = false) {
    CHECK_OK(cudaMemcpy(got, C, m * n * 4, cudaMemcpyDeviceToHost));
    double w = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double s = 0;
        for (int q = 0; q < k; ++q)
          s += (double)a(i * k + q) * (double)b(q * n + j);
        double d = std::fabs(s - got[colC ? j * m + i : i * n + j]);
        if (!(d <= w)) w = d;
      }
    check(name, w < 1e-5);
  };
  auto gh = [&](int i) {
    return (float)ha[i];
  };
  auto gb = [&](int i) {
    return (float)hb[i];
  };
  auto ga = [&](int i) {
    return tf32(fa[i], true);
  };
  auto gf = [&](int i) {
    return tf32(fb[i], true);
  };
  mmaK8<<<1, 32>>>(A, B, C);
  check_product("mma m16n8k8 f16", 16, 8, 8, gh, gb);
  if (new80) {
    mmaK16<<<1, 32>>>(A, B, C);
    check_product("ldmatrix and mma m16n8k16 f16", 16, 8, 16, gh, gb);
    mmaTf<<<1, 32>>>(FA, FB, C);
    check_product("mma m16n8k8 tf32", 16, 8, 8, ga, gf);
    wmTf<<<1, 32>>>(FA, FB, C);
    check_product("wmma m16n16k8 tf32", 16, 16, 8, ga, gf, true);
    float big[256];
    for (int i = 0; i < 256; ++i)
      big[i] = (float)i;
    float* X;
    CHECK_OK(cudaMalloc(&X, sizeof big));
    CHECK_OK(cudaMemcpy(X, big, sizeof big, cudaMemcpyHostToDevice));
    // What has arrived.
    const bool want[4][2] = {{false, false}, {true, false}, {true, true}, {true, true}};
    for (int w = 0; w < 4; ++w) {
      cpAsync<<<1, 32>>>((float4*)X, C, w);
      CHECK_OK(cudaMemcpy(got, C, 256, cudaMemcpyDeviceToHost));
      bool g0 = got[2 * 9] == big[9 * 4 + 1], g1 = got[2 * 9 + 1] == big[128 + 9 * 4 + 2];
      check("cp.async groups", g0 == want[w][0] && g1 == want[w][1]);
    }
  }
  unsigned *O, o[160];
  CHECK_OK(cudaMalloc(&O, sizeof o));
  warpOps<<<1, 32>>>(O);
  CHECK_OK(cudaMemcpy(o, O, sizeof o, cudaMemcpyDeviceToHost));
  bool am = true, om = true, ma = true, re = true;
  for (unsigned t = 0; t < 32; ++t) {
    am &= o[t * 5] == ~0u;
    om &= t & 1 ? o[t * 5 + 1] == 0xaaaaaaaau && o[t * 5 + 2] == 16 : true;
    unsigned m = 0;
    for (unsigned u = 0; u < 32; ++u)
      m |= (u / 5 == t / 5) << u;
    ma &= o[t * 5 + 3] == m;
    re &= o[t * 5 + 4] == 496 + 31000;
  }
  // Then lanes are apart, and smaller masks are right too.
  bool seeded = std::getenv("CUDASIM_SEED") != nullptr;
  check("activemask, all", am || seeded);
  check("activemask, branch", om || seeded);
  check("match", ma);
  check("redux", re);
  CHECK_OK(cudaMemset(C, 0, 64));
  vecAtom<<<2, 32>>>((float2*)C, (float4*)(C + 4), (__half2*)(C + 12));
  CHECK_OK(cudaMemcpy(got, C, 64, cudaMemcpyDeviceToHost));
  __half2 h = *(__half2*)&got[12];
  check("vector atomics",
        got[0] == 64 && got[1] == 128 && got[7] == 256 && (float)h.x == 64 && (float)h.y == 128);
}

}  // namespace tensor
