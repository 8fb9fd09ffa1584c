// Shared by the cuBLAS and cuBLASLt shims: element access, range checks, submission, matrix
// product.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <functional>
#include <vector>
#define API extern "C" __attribute__((visibility("default")))

// Services of the runtime shim.
extern "C" int cudasim_submit(cudaStream_t, const char*, const std::function<int()>*, int);
extern "C" int cudasim_valid(const void*, size_t, int);
extern "C" int cudasim_stream_device(cudaStream_t);
extern "C" int cudasim_stream_capturing(cudaStream_t);

namespace cudasim {
// ---- element types
inline size_t esize(int t) {
  switch (t) {
    case CUDA_R_64F:
      return 8;
    case CUDA_R_32F:
      return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    default:
      return 0;  // not supported
  }
}
template <class T, class S>
inline T bits(S s) {
  T t;
  std::memcpy(&t, &s, sizeof t);
  return t;
}
inline float bf2f(uint16_t b) {
  return bits<float>((uint32_t)b << 16);
}
inline uint16_t f2bf(float f) {
  if (std::isnan(f)) return 0x7fff;
  uint32_t u = bits<uint32_t>(f);
  return (uint16_t)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}
// TF32: 10 mantissa bits, nearest, ties away from zero.
inline float tf32(float f) {
  if (!std::isfinite(f)) return f;
  return bits<float>((bits<uint32_t>(f) + 0x1000u) & ~0x1fffu);
}
inline double load(const void* p, int t, int64_t i) {
  switch (t) {
    case CUDA_R_64F:
      return ((const double*)p)[i];
    case CUDA_R_32F:
      return ((const float*)p)[i];
    case CUDA_R_16F:
      return (double)bits<_Float16>(((const uint16_t*)p)[i]);
    default:
      return bf2f(((const uint16_t*)p)[i]);
  }
}
inline void store(void* p, int t, int64_t i, double v) {
  switch (t) {
    case CUDA_R_64F:
      ((double*)p)[i] = v;
      break;
    case CUDA_R_32F:
      ((float*)p)[i] = (float)v;
      break;
    case CUDA_R_16F:
      ((uint16_t*)p)[i] = std::isnan(v) ? 0x7fff : bits<uint16_t>((_Float16)v);
      break;
    default:
      ((uint16_t*)p)[i] = f2bf((float)v);
  }
}

// ---- range checks
struct Use {
  const char* what;
  const void* p;
  size_t bytes;
};
inline bool usable(const char* fn, const std::vector<Use>& uses, int dev) {
  for (const Use& u : uses)
    if (u.bytes && !cudasim_valid(u.p, u.bytes, dev)) {
      std::fprintf(
          stderr,
          "[cudasim] *** %s: %s at %p needs %zu bytes that are not all memory of device %d\n", fn,
          u.what, u.p, u.bytes, dev);
      return false;
    }
  return true;
}
// Elements that a matrix or a vector spans.
inline size_t span(int64_t r, int64_t c, int64_t ld) {
  return r > 0 && c > 0 ? (size_t)((c - 1) * ld + r) : 0;
}
inline size_t vspan(int64_t n, int64_t inc) {
  return n > 0 ? (size_t)((n - 1) * std::llabs(inc) + 1) : 0;
}

// Checks the operands now (and again when the work runs), then puts the work on the stream.
inline cublasStatus_t submit(const char* fn, cudaStream_t st, std::vector<Use> uses,
                             std::function<void()> work, bool wait = false) {
  int dev = cudasim_stream_device(st);
  if (dev < 0) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!cudasim_stream_capturing(st) && !usable(fn, uses, dev))
    return CUBLAS_STATUS_EXECUTION_FAILED;
  std::function<int()> f = [=] {
    if (!usable(fn, uses, dev)) return (int)cudaErrorIllegalAddress;
    work();
    return 0;
  };
  return cudasim_submit(st, fn, &f, wait) ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

// ---- the product: acc[m*n], row i contiguous, = op(A) * op(B), summed in order of k in type T
template <class T>
__attribute__((optimize("O3"))) void product(int64_t m, int64_t n, int64_t k,
                                             const std::vector<T>& a, const std::vector<T>& b,
                                             std::vector<T>& acc) {
  acc.assign((size_t)(m * n), T(0));
  for (int64_t i = 0; i < m; ++i) {
    T* __restrict__ o = acc.data() + i * n;
    for (int64_t q = 0; q < k; ++q) {
      const T x = a[i * k + q];
      const T* __restrict__ r = b.data() + q * n;
      for (int64_t j = 0; j < n; ++j)
        o[j] += x * r[j];
    }
  }
}
struct Matrix {  // rows x cols as stored
  const void* p;
  int type;
  int64_t rows, cols, ld;
  bool rowMajor;
  int64_t at(int64_t r, int64_t c) const { return rowMajor ? r * ld + c : c * ld + r; }
  size_t bytes() const {
    return (rowMajor ? span(cols, rows, ld) : span(rows, cols, ld)) * esize(type);
  }
};
enum Rounding { AS_IS, TO_TF32 };
// op(M) as rows x cols, packed by rows.
template <class T>
std::vector<T> pack(const Matrix& m, bool trans, Rounding rnd) {
  int64_t r = trans ? m.cols : m.rows, c = trans ? m.rows : m.cols;
  std::vector<T> v((size_t)(r * c));
  for (int64_t i = 0; i < r; ++i)
    for (int64_t j = 0; j < c; ++j) {
      double x = load(m.p, m.type, trans ? m.at(j, i) : m.at(i, j));
      v[i * c + j] = rnd == TO_TF32 ? (T)tf32((float)x) : (T)x;
    }
  return v;
}
const char* statusName(cublasStatus_t s);
}  // namespace cudasim
