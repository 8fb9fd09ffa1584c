// Shared memory, cooperative groups, virtual functions, 16-bit types, atomics, math functions,
// integer intrinsics.
#pragma once

#include <cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

#include "check.hpp"

namespace features {

namespace cg = cooperative_groups;
__managed__ int mg[4];
extern __shared__ float dyn[];
__global__ void k1(float* o, int n) {
  dyn[threadIdx.x] = threadIdx.x;
  __shared__ int cnt;
  if (threadIdx.x == 0) cnt = 0;
  __syncthreads();
  atomicAdd(&cnt, 1);
  int c = __syncthreads_count(threadIdx.x % 3 == 0);
  int a = __syncthreads_and(threadIdx.x < n), b = __syncthreads_or(threadIdx.x == 7);
  o[threadIdx.x] =
      dyn[blockDim.x - 1 - threadIdx.x] + cnt * 1000 + c * 100000 + a * 0.5f + b * 0.25f;
}
__global__ void k2(int* o) {
  auto blk = cg::this_thread_block();
  auto t = cg::tiled_partition<8>(blk);
  int s = cg::reduce(t, (int)threadIdx.x, cg::plus<int>());
  int m = cg::reduce(t, (int)threadIdx.x, cg::greater<int>());
  int p = cg::inclusive_scan(t, 1);
  o[threadIdx.x] = s + m * 1000 + p * 100000;
  if (threadIdx.x % 3 == 1) {
    auto c = cg::coalesced_threads();
    atomicAdd(&mg[0], c.size() == 0 ? 0 : 1);
    if (c.thread_rank() == 0) atomicAdd(&mg[1], c.size());
  }
}
__global__ void k3(const float* x, float* o) {
  __shared__ alignas(16) float s[64];
  auto b = cg::this_thread_block();
  cg::memcpy_async(b, s, x, sizeof(float) * 64);
  cg::wait(b);
  o[threadIdx.x] = s[63 - threadIdx.x];
}
struct B {
  __device__ virtual float f(float x) const { return x; }
  __device__ virtual ~B() {}
};
struct D1 : B {
  __device__ float f(float x) const override { return x * 2; }
};
struct D2 : B {
  __device__ float f(float x) const override { return x + 10; }
};
typedef float (*fp)(float);
__device__ float g1(float x) {
  return x * x;
}
__device__ float g2(float x) {
  return -x;
}
__device__ fp tab[2] = {g1, g2};
__global__ void k4(float* o) {
  B* b = threadIdx.x & 1 ? (B*)new D1 : (B*)new D2;
  o[threadIdx.x] = b->f(threadIdx.x) + tab[(threadIdx.x >> 1) & 1](threadIdx.x);
  delete b;
}
__global__ void k5(__half2* h, __nv_bfloat16* b, double* d, unsigned long long* u) {
  int t = threadIdx.x;
  __half2 a = __floats2half2_rn(t, t * .5f);
  h[t] = __hfma2(a, a, __float2half2_rn(1.f));
  b[t] = __float2bfloat16(t * 1.01f) * __float2bfloat16(2.f);
  atomicAdd(d, t * 0.5);
  atomicMax(u, (unsigned long long)t << 33);
  cuda::atomic_ref<int, cuda::thread_scope_device> r(mg[2]);
  r.fetch_add(t, cuda::memory_order_relaxed);
}
__global__ void k6(float* o, const float* x) {
  int t = threadIdx.x;
  float v = x[t];
  o[t] = erff(v) + tgammaf(fabsf(v) + .5f) * 0.001f + __sinf(v) + __cosf(v) + rsqrtf(fabsf(v) + 1) +
         __fdividef(v, 3.f) + fmodf(v, 0.7f) + powf(fabsf(v) + .1f, v) + cbrtf(v) +
         log1pf(fabsf(v)) + expm1f(v * .1f) + sinhf(v * .1f) + atan2f(v, 2.f) + rintf(v) +
         truncf(v) + floorf(v) + ldexpf(v, 3) + __saturatef(v) + (float)__float2int_rd(v) +
         __fmaf_rz(v, v, 1.f) + isnan(v) + signbit(v) + fmaxf(v, 0.f) + normcdff(v) + sinpif(v);
}
__global__ void k7(unsigned* o) {
  unsigned t = threadIdx.x;
  unsigned m = __match_any_sync(~0u, t / 4);
  int pred;
  __match_all_sync(~0u, 7, &pred);
  o[t] = m * 0 + __popc(m) + pred * 10 + __ffs(t) * 100 + __clz(t) * 1000 + __brev(t) / 2 +
         __funnelshift_l(t, t + 1, 5) + __byte_perm(t, t * 3, 0x5140) +
         __umulhi(t * 1234567u, 9876543u) + (unsigned)__mul24(t, t) +
         __dp4a((int)t, (int)t * 3, 5) + __usad(t, 9, 1) + ((unsigned)__shfl_up_sync(~0u, t, 3));
  switch (t % 9) {
    case 0:
      o[t] += 3;
      break;
    case 1:
      o[t] ^= 5;
      break;
    case 2:
      o[t] *= 7;
      break;
    case 3:
      o[t] -= 11;
      break;
    case 4:
      o[t] += t;
      break;
    case 5:
      o[t] |= 1;
      break;
    case 6:
      o[t] &= ~4u;
      break;
    case 7:
      o[t] <<= 1;
      break;
    default:
      o[t] += 100;
  }
}
inline void run(int) {
  float* o;
  CHECK_OK(cudaMalloc(&o, 4096));
  k1<<<1, 100, 400>>>(o, 100);
  CHECK_OK(cudaGetLastError());
  float h[1024];
  CHECK_OK(cudaMemcpy(h, o, 400, cudaMemcpyDeviceToHost));
  bool ok = true;
  for (int t = 0; t < 100; ++t)
    if (h[t] != 99 - t + 100 * 1000 + 34 * 100000.f + .5f + .25f) {
      if (std::fabs(h[t] - (99 - t + 100 * 1000 + 34 * 100000. + .75)) > 0.3) ok = false;
    }
  check("dyn shared / bar.red", ok);
  int* io;
  CHECK_OK(cudaMallocManaged(&io, 4096));
  mg[0] = mg[1] = mg[2] = 0;
  k2<<<1, 64>>>(io);
  CHECK_OK(cudaDeviceSynchronize());
  ok = true;
  for (int t = 0; t < 64; ++t) {
    int b = t / 8 * 8;
    if (io[t] != b * 8 + 28 + (b + 7) * 1000 + (t % 8 + 1) * 100000) ok = false;
  }
  check("cg tile reduce/scan", ok);
  int c = 0;
  for (int t = 0; t < 64; ++t)
    c += t % 3 == 1;
  check("coalesced/managed", mg[0] == c && mg[1] == c);
  for (int i = 0; i < 64; ++i)
    h[i] = i * 1.5f;
  float* x;
  CHECK_OK(cudaMalloc(&x, 4096));
  CHECK_OK(cudaMemcpy(x, h, 256, cudaMemcpyHostToDevice));
  k3<<<1, 64>>>(x, o);
  CHECK_OK(cudaMemcpy(h, o, 256, cudaMemcpyDeviceToHost));
  ok = true;
  for (int t = 0; t < 64; ++t)
    if (h[t] != (63 - t) * 1.5f) ok = false;
  check("memcpy_async", ok);
  k4<<<1, 32>>>(o);
  CHECK_OK(cudaGetLastError());
  CHECK_OK(cudaMemcpy(h, o, 128, cudaMemcpyDeviceToHost));
  ok = true;
  for (int t = 0; t < 32; ++t) {
    float r = (t & 1 ? t * 2.f : t + 10.f) + (t >> 1 & 1 ? -(float)t : (float)t * t);
    if (h[t] != r) ok = false;
  }
  check("virtual/new/function pointers", ok);
  __half2* hh;
  __nv_bfloat16* bb;
  double* dd;
  unsigned long long* uu;
  CHECK_OK(cudaMallocManaged(&hh, 256));
  CHECK_OK(cudaMallocManaged(&bb, 256));
  CHECK_OK(cudaMallocManaged(&dd, 8));
  CHECK_OK(cudaMallocManaged(&uu, 8));
  *dd = 0;
  *uu = 0;
  k5<<<1, 32>>>(hh, bb, dd, uu);
  CHECK_OK(cudaDeviceSynchronize());
  ok = *dd == 248 && *uu == 31ull << 33 && mg[2] == 496;
  for (int t = 0; t < 32; ++t) {
    float a = __half2float(hh[t].x), b = __half2float(hh[t].y);
    if (a != t * t + 1.f || b != __half2float(__float2half(t * t * .25f + 1))) ok = false;
    if (__bfloat162float(bb[t]) != 2 * __bfloat162float(__float2bfloat16(t * 1.01f))) ok = false;
  }
  check("half2/bf16/atomics f64 u64/atomic_ref", ok);
  for (int i = 0; i < 64; ++i)
    h[i] = (i - 32) * .173f;
  float xs[64];
  memcpy(xs, h, 256);
  CHECK_OK(cudaMemcpy(x, h, 256, cudaMemcpyHostToDevice));
  k6<<<1, 64>>>(o, x);
  CHECK_OK(cudaGetLastError());
  CHECK_OK(cudaMemcpy(h, o, 256, cudaMemcpyDeviceToHost));
  double worst = 0;
  for (int t = 0; t < 64; ++t) {
    float vf = xs[t];
    double v = vf;
    double r = std::erf(v) + std::tgamma((double)(std::fabs(vf) + .5f)) * 0.001 + std::sin(v) +
               std::cos(v) + 1 / std::sqrt(std::fabs(v) + 1) + v / 3 + std::fmod(vf, 0.7f) +
               std::pow(std::fabs(v) + .1, v) + std::cbrt(v) + std::log1p(std::fabs(v)) +
               std::expm1(v * .1) + std::sinh(v * .1) + std::atan2(v, 2.) + std::rint(v) +
               std::trunc(v) + std::floor(v) + v * 8 +
               (v < 0   ? 0
                : v > 1 ? 1
                        : v) +
               std::floor(v) + (v * v + 1) + 0 + (vf < 0) + (v > 0 ? v : 0) +
               .5 * std::erfc(-v / std::sqrt(2.)) + std::sin(M_PI * v);
    worst = std::max(worst, std::fabs(r - h[t]) / std::max(1., std::fabs(r)));
  }
  check("math", worst < 2e-5);
  unsigned* u;
  CHECK_OK(cudaMalloc(&u, 256));
  k7<<<1, 32>>>(u);
  CHECK_OK(cudaGetLastError());
  unsigned hu[32];
  CHECK_OK(cudaMemcpy(hu, u, 128, cudaMemcpyDeviceToHost));
  ok = true;
  for (unsigned t = 0; t < 32; ++t) {
    auto brev = [](unsigned v) {
      unsigned r = 0;
      for (int i = 0; i < 32; ++i)
        r |= ((v >> i) & 1) << (31 - i);
      return r;
    };
    unsigned y = t * 3;
    unsigned long long cat = ((unsigned long long)y << 32) | t;
    auto by = [&](int k) {
      return (unsigned)(cat >> (8 * k)) & 255;
    };
    unsigned perm = by(0) | by(4) << 8 | by(1) << 16 | by(5) << 24;
    int dp = 5;
    for (int k = 0; k < 4; ++k)
      dp += (signed char)(t >> 8 * k) * (signed char)((t * 3) >> 8 * k);
    unsigned e = 4 + 10 + __builtin_ffs(t) * 100 + (t ? __builtin_clz(t) : 32) * 1000 +
                 brev(t) / 2 + (unsigned)((((unsigned long long)(t + 1) << 32 | t) << 5) >> 32) +
                 perm + (unsigned)(((unsigned long long)(t * 1234567u) * 9876543u) >> 32) + t * t +
                 dp + ((t > 9 ? t - 9 : 9 - t) + 1) + (t >= 3 ? t - 3 : t);
    switch (t % 9) {
      case 0:
        e += 3;
        break;
      case 1:
        e ^= 5;
        break;
      case 2:
        e *= 7;
        break;
      case 3:
        e -= 11;
        break;
      case 4:
        e += t;
        break;
      case 5:
        e |= 1;
        break;
      case 6:
        e &= ~4u;
        break;
      case 7:
        e <<= 1;
        break;
      default:
        e += 100;
    }
    if (e != hu[t]) {
      ok = false;
      printf("t%u %u %u\n", t, hu[t], e);
    }
  }
  check("integer intrinsics / switch", ok);
}

}  // namespace features
