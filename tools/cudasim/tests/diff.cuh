// The same __host__ __device__ code compiled for the host and run by the simulator: bitwise
// identical.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <random>
#include <vector>

#include "check.hpp"

namespace diff {

struct R {
  uint64_t v[40];
};
__host__ __device__ inline uint64_t bits(double d) {
  uint64_t u;
  memcpy(&u, &d, 8);
  return u;
}
__host__ __device__ inline uint64_t bitsf(float d) {
  uint32_t u;
  memcpy(&u, &d, 4);
  return u;
}
__host__ __device__ void run(uint64_t a, uint64_t b, float f, float g, double x, double y, R& r) {
  int k = 0;
  int64_t sa = a, sb = b;
  int32_t ia = (int32_t)a, ib = (int32_t)b;
  uint32_t ua = a, ub = b;
  int16_t ha = a, hb = b;
  int8_t ca = a, cb = b;
  r.v[k++] = a * b + (a ^ b);
  r.v[k++] = b ? a / b : 0;
  r.v[k++] = b ? a % b : 0;
  r.v[k++] = (sb && !(sb == -1)) ? sa / sb : 0;
  r.v[k++] = (sb && sb != -1) ? sa % sb : 0;
  r.v[k++] = (ib && ib != -1) ? (uint64_t)(int64_t)(ia / ib) : 0;
  r.v[k++] = ub ? ua % ub : 0;
  r.v[k++] = (uint64_t)((int64_t)ia * ib);
  r.v[k++] = (uint64_t)ua * ub;
  r.v[k++] = a << (b & 63);
  r.v[k++] = a >> (b & 63);
  r.v[k++] = sa >> (b & 63);
  r.v[k++] = (uint64_t)(int64_t)(ia >> (b & 31));
  r.v[k++] = (uint32_t)(ua << (b & 31) | ua >> ((32 - (b & 31)) & 31));
  r.v[k++] = (uint64_t)(int64_t)(ha * hb);
  r.v[k++] = (uint64_t)(int64_t)(int8_t)(ca + cb);
  r.v[k++] = (uint64_t)((unsigned __int128)a * b >> 64);
  r.v[k++] = (uint64_t)((__int128)sa * sb >> 64);
  r.v[k++] = (ia < ib) + 2 * (ua < ub) + 4 * (sa < sb) + 8 * (a < b) + 16 * (ha < hb) +
             32 * (ca < cb) + 64 * (f < g) + 128 * (f >= g) + 256 * (f == g) + 512 * (f != g) +
             1024 * (x <= y) + 2048 * (x > y);
  r.v[k++] = bitsf(f + g);
  r.v[k++] = bitsf(f * g);
  r.v[k++] = bitsf(f - g);
  r.v[k++] = bitsf(f / g);
  r.v[k++] = bitsf(sqrtf(fabsf(f)));
  r.v[k++] = bitsf(fmaf(f, g, 1.5f));
  r.v[k++] = bits(x + y);
  r.v[k++] = bits(x * y);
  r.v[k++] = bits(x / y);
  r.v[k++] = bits(sqrt(fabs(x)));
  r.v[k++] = bits(fma(x, y, (double)f));
  r.v[k++] = bitsf((float)x);
  r.v[k++] = bits((double)f);
  r.v[k++] = fabsf(f) < 1e9f ? (uint64_t)(int64_t)(int)f : 0;
  r.v[k++] = fabs(x) < 1e18 ? (uint64_t)(long long)x : 0;
  r.v[k++] = bitsf((float)ia);
  r.v[k++] = bitsf((float)ua);
  r.v[k++] = bitsf((float)sa) ^ bits((double)a);
  r.v[k++] = bitsf((float)a) ^ bits((double)sa);
  r.v[k++] = bitsf(floorf(f)) ^ bitsf(rintf(g)) ^ bits(ceil(x)) ^ bits(trunc(y));
  r.v[k++] = fabsf(f) < 60000.f ? bitsf(__half2float(__float2half(f))) ^
                                      (bitsf(__bfloat162float(__float2bfloat16(g))) << 1)
                                : 0;
}
__global__ void ker(const uint64_t* a, const float* f, const double* x, R* r, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) run(a[2 * i], a[2 * i + 1], f[2 * i], f[2 * i + 1], x[2 * i], x[2 * i + 1], r[i]);
}
inline void run(int) {
  int n = 100000;
  std::mt19937_64 g(5);
  std::vector<uint64_t> a(2 * n);
  std::vector<float> f(2 * n);
  std::vector<double> x(2 * n);
  for (auto& v : a) {
    v = g();
    v >>= (g() % 64);
    if (g() & 1) v = 0 - v;
  }
  for (auto& v : f) {
    do {
      uint32_t u = g();
      memcpy(&v, &u, 4);
    } while (std::isnan(v) || std::isinf(v));
    if (g() & 1) v = (float)((int64_t)(g() % 2000001) - 1000000) / 997.f;
  }
  for (auto& v : x) {
    do {
      uint64_t u = g();
      memcpy(&v, &u, 8);
    } while (std::isnan(v) || std::isinf(v));
    if (g() & 1) v = ((int64_t)(g() % 2000001) - 1000000) / 997.;
  }
  uint64_t* da;
  float* df;
  double* dx;
  R* dr;
  cudaMalloc(&da, a.size() * 8);
  cudaMalloc(&df, f.size() * 4);
  cudaMalloc(&dx, x.size() * 8);
  cudaMalloc(&dr, n * sizeof(R));
  cudaMemcpy(da, a.data(), a.size() * 8, cudaMemcpyHostToDevice);
  cudaMemcpy(df, f.data(), f.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dx, x.data(), x.size() * 8, cudaMemcpyHostToDevice);
  ker<<<(n + 127) / 128, 128>>>(da, df, dx, dr, n);
  std::vector<R> r(n);
  cudaError_t e = cudaMemcpy(r.data(), dr, n * sizeof(R), cudaMemcpyDeviceToHost);
  long bad[40] = {};
  long tot = 0;
  for (int i = 0; i < n; ++i) {
    R q;
    run(a[2 * i], a[2 * i + 1], f[2 * i], f[2 * i + 1], x[2 * i], x[2 * i + 1], q);
    for (int k = 0; k < 40; ++k)
      if (q.v[k] != r[i].v[k]) {
        bool nn = (k >= 19 && k <= 24 && (q.v[k] & 0x7fffffff) > 0x7f800000u &&
                   (r[i].v[k] & 0x7fffffff) > 0x7f800000u);
        if (nn) continue;
        if (bad[k]++ < 2)
          printf("k=%d i=%d host %llx dev %llx\n", k, i, (unsigned long long)q.v[k],
                 (unsigned long long)r[i].v[k]);
        ++tot;
      }
  }
  check("bitwise identical", tot == 0 && e == cudaSuccess);
}

}  // namespace diff
