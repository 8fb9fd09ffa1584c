// The BLAS libraries against plain loops.
#pragma once

#include <cmath>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

#include "check.hpp"

namespace blas {

template <class T>
struct Dev {
  T* p;
  size_t n;
  explicit Dev(size_t k) : n(k) { CHECK_OK(cudaMalloc(&p, k * sizeof(T))); }
  explicit Dev(const std::vector<T>& v) : Dev(v.size()) {
    CHECK_OK(cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Dev() { cudaFree(p); }
  std::vector<T> host() const {
    std::vector<T> v(n);
    CHECK_OK(cudaDeviceSynchronize());
    CHECK_OK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }
};
static unsigned seed = 1;
static float rnd() {
  seed = seed * 1664525u + 1013904223u;
  return (float)(int)(seed >> 8) / (1 << 23) - 1;
}
template <class T>
std::vector<T> random(size_t n) {
  std::vector<T> v(n);
  for (T& x : v)
    x = (T)rnd();
  return v;
}
static float tf32(float f) {
  union {
    float f;
    unsigned u;
  } c{f};
  c.u = (c.u + 0x1000) & ~0x1fffu;
  return c.f;
}
// Column-major reference in double.
template <class T>
std::vector<double> ref(bool ta, bool tb, int m, int n, int k, const std::vector<T>& a, int lda,
                        const std::vector<T>& b, int ldb, bool round = false) {
  std::vector<double> c((size_t)m * n);
  auto r = [&](double x) {
    return round ? (double)tf32((float)x) : x;
  };
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      double s = 0;
      for (int q = 0; q < k; ++q)
        s += r((double)(float)(ta ? a[i * lda + q] : a[q * lda + i])) *
             r((double)(float)(tb ? b[q * ldb + j] : b[j * ldb + q]));
      c[(size_t)j * m + i] = s;
    }
  return c;
}
template <class V>
double worst(const V& got, const std::vector<double>& want) {
  double w = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    double d = std::fabs((double)(float)got[i] - want[i]);
    if (!(d <= w)) w = d;
  }
  return w;
}
// One cublasLtMatmul, column-major, alpha 1 and beta 0.
template <class TI, class TO>
struct Lt {
  cublasLtHandle_t h;
  cublasLtMatmulDesc_t d;
  cublasLtMatrixLayout_t a, b, c;
  Lt(cublasLtHandle_t hh, bool ta, bool tb, int m, int n, int k, cudaDataType ti, cudaDataType to,
     cublasComputeType_t ct = CUBLAS_COMPUTE_32F)
      : h(hh) {
    CHECK_OK(cublasLtMatmulDescCreate(&d, ct, CUDA_R_32F));
    cublasOperation_t oa = ta ? CUBLAS_OP_T : CUBLAS_OP_N, ob = tb ? CUBLAS_OP_T : CUBLAS_OP_N;
    set(CUBLASLT_MATMUL_DESC_TRANSA, oa);
    set(CUBLASLT_MATMUL_DESC_TRANSB, ob);
    CHECK_OK(cublasLtMatrixLayoutCreate(&a, ti, ta ? k : m, ta ? m : k, ta ? k : m));
    CHECK_OK(cublasLtMatrixLayoutCreate(&b, ti, tb ? n : k, tb ? k : n, tb ? n : k));
    CHECK_OK(cublasLtMatrixLayoutCreate(&c, to, m, n, m));
  }
  template <class V>
  void set(cublasLtMatmulDescAttributes_t at, V v) {
    CHECK_OK(cublasLtMatmulDescSetAttribute(d, at, &v, sizeof v));
  }
  cublasStatus_t run(const TI* A, const TI* B, TO* C, cudaStream_t s = 0, float alpha = 1,
                     float beta = 0) {
    cublasLtMatmulPreference_t p;
    CHECK_OK(cublasLtMatmulPreferenceCreate(&p));
    size_t ws = 0;
    CHECK_OK(cublasLtMatmulPreferenceSetAttribute(p, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &ws,
                                                  sizeof ws));
    cublasLtMatmulHeuristicResult_t r;
    int got = 0;
    cublasStatus_t st = cublasLtMatmulAlgoGetHeuristic(h, d, a, b, c, c, p, 1, &r, &got);
    CHECK_OK(cublasLtMatmulPreferenceDestroy(p));
    if (st != CUBLAS_STATUS_SUCCESS || got != 1) return st;
    return cublasLtMatmul(h, d, &alpha, A, a, B, b, &beta, C, c, C, c, &r.algo, nullptr, 0, s);
  }
};
inline void run(int) {
  cublasHandle_t h;
  CHECK_OK(cublasCreate(&h));
  cublasLtHandle_t lt;
  CHECK_OK(cublasLtCreate(&lt));
  const int m = 37, n = 23, k = 41;
  float one = 1, zero = 0;
  for (int ta = 0; ta < 2; ++ta)
    for (int tb = 0; tb < 2; ++tb) {
      auto a = random<float>(m * k), b = random<float>(k * n);
      int lda = ta ? k : m, ldb = tb ? n : k;
      Dev<float> A(a), B(b), Cc(m * n);
      auto oa = ta ? CUBLAS_OP_T : CUBLAS_OP_N, ob = tb ? CUBLAS_OP_T : CUBLAS_OP_N;
      auto want = ref(ta, tb, m, n, k, a, lda, b, ldb),
           wantT = ref(ta, tb, m, n, k, a, lda, b, ldb, true);
      CHECK_OK(cublasSgemm(h, oa, ob, m, n, k, &one, A.p, lda, B.p, ldb, &zero, Cc.p, m));
      double e32 = worst(Cc.host(), want);
      CHECK_OK(cublasSetMathMode(h, CUBLAS_TF32_TENSOR_OP_MATH));
      CHECK_OK(cublasSgemm(h, oa, ob, m, n, k, &one, A.p, lda, B.p, ldb, &zero, Cc.p, m));
      double eT = worst(Cc.host(), wantT), eD = worst(Cc.host(), want);
      CHECK_OK(cublasSetMathMode(h, CUBLAS_DEFAULT_MATH));
      check("Sgemm", e32 < 1e-5);
      check("Sgemm TF32", eT < 1e-5 && eD > 1e-5);
      CHECK_OK(cublasGemmEx(h, oa, ob, m, n, k, &one, A.p, CUDA_R_32F, lda, B.p, CUDA_R_32F, ldb,
                            &zero, Cc.p, CUDA_R_32F, m, CUBLAS_COMPUTE_32F_FAST_TF32,
                            CUBLAS_GEMM_DEFAULT));
      check("GemmEx FAST_TF32", worst(Cc.host(), wantT) < 1e-5);
      Lt<float, float> l(lt, ta, tb, m, n, k, CUDA_R_32F, CUDA_R_32F);
      CHECK_OK(l.run(A.p, B.p, Cc.p));
      check("cublasLtMatmul f32", worst(Cc.host(), want) < 1e-5);
      auto ha = random<__half>(m * k), hb = random<__half>(k * n);
      Dev<__half> HA(ha), HB(hb), HC(m * n);
      auto wantH = ref(ta, tb, m, n, k, ha, lda, hb, ldb);
      CHECK_OK(cublasGemmEx(h, oa, ob, m, n, k, &one, HA.p, CUDA_R_16F, lda, HB.p, CUDA_R_16F, ldb,
                            &zero, HC.p, CUDA_R_16F, m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
      check("GemmEx f16", worst(HC.host(), wantH) < 8e-3);
      Lt<__half, float> lh(lt, ta, tb, m, n, k, CUDA_R_16F, CUDA_R_32F);
      CHECK_OK(lh.run(HA.p, HB.p, Cc.p));
      check("cublasLtMatmul f16 to f32", worst(Cc.host(), wantH) < 1e-4);
      auto ba = random<__nv_bfloat16>(m * k), bb = random<__nv_bfloat16>(k * n);
      Dev<__nv_bfloat16> BA(ba), BB(bb), BC(m * n);
      auto wantB = ref(ta, tb, m, n, k, ba, lda, bb, ldb);
      Lt<__nv_bfloat16, __nv_bfloat16> lb(lt, ta, tb, m, n, k, CUDA_R_16BF, CUDA_R_16BF);
      CHECK_OK(lb.run(BA.p, BB.p, BC.p));
      check("cublasLtMatmul bf16", worst(BC.host(), wantB) < 5e-2);
    }
  // epilogues
  auto a = random<float>(m * k), b = random<float>(k * n), bias = random<float>(m);
  Dev<float> A(a), B(b), Bi(bias), Cc(m * n), G(m), Gb(n);
  const int ld = 128;
  Dev<unsigned char> mask(ld / 8 * n);
  auto z = ref(false, false, m, n, k, a, m, b, k);
  auto with = [&](auto f) {
    std::vector<double> v(z);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i)
        v[j * m + i] = f(v[j * m + i], i, j);
    return v;
  };
  auto relu = [](double x) {
    return x > 0 ? x : 0;
  };
  auto gelu = [](double x) {
    return 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
  };
  auto run = [&](cublasLtEpilogue_t e, float* bp, bool aux) {
    Lt<float, float> l(lt, false, false, m, n, k, CUDA_R_32F, CUDA_R_32F);
    l.set(CUBLASLT_MATMUL_DESC_EPILOGUE, e);
    if (bp) l.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bp);
    if (aux) {
      l.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, mask.p);
      l.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, (int64_t)ld);
    }
    CHECK_OK(l.run(A.p, B.p, Cc.p));
    return Cc.host();
  };
  check("RELU", worst(run(CUBLASLT_EPILOGUE_RELU, nullptr, false),
                      with([&](double x, int, int) { return relu(x); })) < 1e-5);
  check("BIAS", worst(run(CUBLASLT_EPILOGUE_BIAS, Bi.p, false),
                      with([&](double x, int i, int) { return x + bias[i]; })) < 1e-5);
  auto rb = with([&](double x, int i, int) { return relu(x + bias[i]); });
  check("RELU_BIAS", worst(run(CUBLASLT_EPILOGUE_RELU_BIAS, Bi.p, false), rb) < 1e-5);
  check("GELU", worst(run(CUBLASLT_EPILOGUE_GELU, nullptr, false),
                      with([&](double x, int, int) { return gelu(x); })) < 1e-5);
  check("GELU_BIAS", worst(run(CUBLASLT_EPILOGUE_GELU_BIAS, Bi.p, false),
                           with([&](double x, int i, int) { return gelu(x + bias[i]); })) < 1e-5);
  check("RELU_AUX", worst(run(CUBLASLT_EPILOGUE_RELU_AUX, nullptr, true),
                          with([&](double x, int, int) { return relu(x); })) < 1e-5);
  check("RELU_AUX_BIAS", worst(run(CUBLASLT_EPILOGUE_RELU_AUX_BIAS, Bi.p, true), rb) < 1e-5);
  auto mk = mask.host();
  bool ok = true;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      ok &= (bool)(mk[(j * ld + i) / 8] >> (i % 8) & 1) == (rb[j * m + i] > 0);
  check("bit mask", ok);
  auto dr = with([&](double x, int i, int j) { return rb[j * m + i] > 0 ? x : 0; });
  check("DRELU", worst(run(CUBLASLT_EPILOGUE_DRELU, nullptr, true), dr) < 1e-5);
  check("DRELU_BGRAD", worst(run(CUBLASLT_EPILOGUE_DRELU_BGRAD, G.p, true), dr) < 1e-5);
  std::vector<double> gs(m, 0), ga(m, 0), gb(n, 0);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      gs[i] += dr[j * m + i];
  check("bias gradient", worst(G.host(), gs) < 1e-4);
  run(CUBLASLT_EPILOGUE_BGRADA, G.p, false);
  run(CUBLASLT_EPILOGUE_BGRADB, Gb.p, false);
  for (int q = 0; q < k; ++q) {
    for (int i = 0; i < m; ++i)
      ga[i] += a[q * m + i];
    for (int j = 0; j < n; ++j)
      gb[j] += b[j * k + q];
  }
  check("BGRADA and BGRADB", worst(G.host(), ga) < 1e-4 && worst(Gb.host(), gb) < 1e-4);
  {  // row-major everything, batched, alpha and beta
    const int nb = 3;
    auto ra = random<float>(nb * m * k), rbm = random<float>(nb * k * n),
         rc = random<float>(nb * m * n);
    Dev<float> RA(ra), RB(rbm), RC(rc);
    cublasLtMatmulDesc_t d;
    CHECK_OK(cublasLtMatmulDescCreate(&d, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    cublasLtMatrixLayout_t L[3];
    int rows[3] = {m, k, m}, cols[3] = {k, n, n};
    for (int q = 0; q < 3; ++q) {
      CHECK_OK(cublasLtMatrixLayoutCreate(&L[q], CUDA_R_32F, rows[q], cols[q], cols[q]));
      cublasLtOrder_t o = CUBLASLT_ORDER_ROW;
      int64_t stride = rows[q] * cols[q];
      int32_t cnt = nb;
      CHECK_OK(cublasLtMatrixLayoutSetAttribute(L[q], CUBLASLT_MATRIX_LAYOUT_ORDER, &o, sizeof o));
      CHECK_OK(cublasLtMatrixLayoutSetAttribute(L[q], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &cnt,
                                                sizeof cnt));
      CHECK_OK(cublasLtMatrixLayoutSetAttribute(L[q], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                &stride, sizeof stride));
    }
    std::vector<float> sc = {2, -0.5f};
    Dev<float> S(sc);
    cublasLtPointerMode_t pm = CUBLASLT_POINTER_MODE_DEVICE;
    CHECK_OK(cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_POINTER_MODE, &pm, sizeof pm));
    CHECK_OK(cublasLtMatmul(lt, d, S.p, RA.p, L[0], RB.p, L[1], S.p + 1, RC.p, L[2], RC.p, L[2],
                            nullptr, nullptr, 0, 0));
    auto got = RC.host();
    double w = 0;
    for (int q = 0; q < nb; ++q)
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          double s = 0;
          for (int r = 0; r < k; ++r)
            s += (double)ra[q * m * k + i * k + r] * rbm[q * k * n + r * n + j];
          w = std::max(
              w, std::fabs(2 * s - 0.5 * rc[q * m * n + i * n + j] - got[q * m * n + i * n + j]));
        }
    check("row order, batch, device scalars", w < 2e-5);
    CHECK_OK(cublasSgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, RB.p, n, k * n,
                                       RA.p, k, m * k, &zero, RC.p, n, m * n, nb));
    auto g2 = RC.host();
    w = 0;
    for (int q = 0; q < nb * m * n; ++q)
      w = std::max(w, std::fabs((double)g2[q] - (got[q] + 0.5 * rc[q]) / 2));
    check("SgemmStridedBatched", w < 2e-5);
    float r = 0, r2 = 0;
    CHECK_OK(cublasSdot(h, m, RA.p, 1, RB.p, 2, &r));
    double s = 0, s2 = 0;
    for (int q = 0; q < m; ++q) {
      s += (double)ra[q] * rbm[2 * q];
      s2 += (double)ra[q] * ra[q];
    }
    CHECK_OK(cublasSnrm2(h, m, RA.p, 1, &r2));
    check("Sdot and Snrm2", std::fabs(r - s) < 1e-5 && std::fabs(r2 - std::sqrt(s2)) < 1e-5);
    CHECK_OK(cublasSaxpy(h, m, &sc[0], RA.p, 1, RB.p, 1));
    CHECK_OK(cublasSscal(h, m, &sc[1], RB.p, 1));
    check("Saxpy and Sscal", std::fabs(RB.host()[5] + 0.5 * (rbm[5] + 2 * ra[5])) < 1e-6);
    CHECK_OK(
        cublasSgeam(h, CUBLAS_OP_T, CUBLAS_OP_N, m, k, &one, RA.p, k, &zero, RA.p, m, RC.p, m));
    check("Sgeam transpose", RC.host()[3 * m + 7] == ra[7 * k + 3]);
    CHECK_OK(cublasSgemv(h, CUBLAS_OP_T, k, m, &one, RA.p, k, RB.p + 100, 1, &zero, RC.p, 1));
    s = 0;
    for (int q = 0; q < k; ++q)
      s += (double)ra[4 * k + q] * rbm[100 + q];
    check("Sgemv", std::fabs(RC.host()[4] - s) < 1e-5);
  }
  // a library call in a graph
  cudaStream_t s;
  CHECK_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK_OK(cublasSetStream(h, s));
  CHECK_OK(cudaMemset(Cc.p, 0, m * n * 4));
  CHECK_OK(cudaDeviceSynchronize());
  CHECK_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  CHECK_OK(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, A.p, m, B.p, k, &one, Cc.p, m));
  Lt<float, float> l(lt, false, false, m, n, k, CUDA_R_32F, CUDA_R_32F);
  CHECK_OK(l.run(A.p, B.p, Cc.p, s, 1, 1));
  cudaGraph_t g;
  CHECK_OK(cudaStreamEndCapture(s, &g));
  cudaGraphExec_t x;
  CHECK_OK(cudaGraphInstantiate(&x, g, 0));
  CHECK_OK(cudaGraphLaunch(x, s));
  CHECK_OK(cudaGraphLaunch(x, s));
  CHECK_OK(cudaStreamSynchronize(s));
  check("captured", worst(Cc.host(), with([](double v, int, int) { return 4 * v; })) < 1e-4);
  // errors
  check("matrix out of bounds",
        cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, m + 1, n, k, &one, A.p, m + 1, B.p, k, &zero, Cc.p,
                    m + 1) == CUBLAS_STATUS_EXECUTION_FAILED);
  check("host pointer", cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a.data(), m, B.p, k,
                                    &zero, Cc.p, m) == CUBLAS_STATUS_EXECUTION_FAILED);
  check("leading dimension", cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, A.p, m - 1,
                                         B.p, k, &zero, Cc.p, m) == CUBLAS_STATUS_INVALID_VALUE);
  Lt<float, float> bigger(lt, false, false, m, n + 5, k, CUDA_R_32F, CUDA_R_32F);
  check("Lt out of bounds", bigger.run(A.p, B.p, Cc.p) == CUBLAS_STATUS_EXECUTION_FAILED);
  CHECK_OK(cublasDestroy(h));
  CHECK_OK(cublasLtDestroy(lt));
  CHECK_OK(cudaDeviceSynchronize());
}

}  // namespace blas
