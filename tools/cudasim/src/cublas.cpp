// Replacement libcublas: plain loops, put on streams like any other work.
#include "blas.hpp"

using namespace cudasim;

struct cublasContext {
  cublasPointerMode_t pm = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cudaStream_t st = nullptr;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  bool device() const { return pm == CUBLAS_POINTER_MODE_DEVICE; }
};
using H = cublasHandle_t;
using Op = cublasOperation_t;
using St = cublasStatus_t;
#define NEED_HANDLE \
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED
#define REQUIRE(c) \
  if (!(c)) return CUBLAS_STATUS_INVALID_VALUE

// A scalar argument: read immediately in host pointer mode, when the work runs in device pointer
// mode.
template <class T>
struct Scalar {
  const T* p;
  T v;
  bool dev;
  Scalar(H h, const T* q) : p(q), v(h->device() ? T() : *q), dev(h->device()) {}
  T get() const { return dev ? *p : v; }
  void use(std::vector<Use>& u) const {
    if (dev) u.push_back({"scalar (device pointer mode)", p, sizeof(T)});
  }
  bool zero() const { return !dev && v == T(0); }
};

// ================================================================= handle
API St cublasCreate_v2(H* h) {
  int n = 0;
  if (cudaGetDeviceCount(&n) != cudaSuccess || !n) return CUBLAS_STATUS_NOT_INITIALIZED;
  *h = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
API St cublasDestroy_v2(H h) {
  NEED_HANDLE;
  delete h;
  return CUBLAS_STATUS_SUCCESS;
}
#define GETSET(Set, Get, T, field) \
  API St Set(H h, T v) {           \
    NEED_HANDLE;                   \
    h->field = v;                  \
    return CUBLAS_STATUS_SUCCESS;  \
  }                                \
  API St Get(H h, T* v) {          \
    NEED_HANDLE;                   \
    *v = h->field;                 \
    return CUBLAS_STATUS_SUCCESS;  \
  }
GETSET(cublasSetStream_v2, cublasGetStream_v2, cudaStream_t, st)
GETSET(cublasSetMathMode, cublasGetMathMode, cublasMath_t, math)
GETSET(cublasSetPointerMode_v2, cublasGetPointerMode_v2, cublasPointerMode_t, pm)
GETSET(cublasSetAtomicsMode, cublasGetAtomicsMode, cublasAtomicsMode_t, atomics)
API St cublasSetWorkspace_v2(H h, void* p, size_t n) {
  NEED_HANDLE;
  REQUIRE(!n || ((uintptr_t)p & 255) == 0);
  if (n && !cudasim_valid(p, n, -1)) {
    std::fprintf(stderr, "[cudasim] *** cublasSetWorkspace: not device memory\n");
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return CUBLAS_STATUS_SUCCESS;
}
API St cublasGetVersion_v2(H, int* v) {
  *v = 130000;
  return CUBLAS_STATUS_SUCCESS;
}
API St cublasGetProperty(libraryPropertyType t, int* v) {
  *v = t == MAJOR_VERSION ? 13 : 0;
  return CUBLAS_STATUS_SUCCESS;
}
API size_t cublasGetCudartVersion() {
  return 13000;
}
API St cublasLoggerConfigure(int, int, int, const char*) {
  return CUBLAS_STATUS_SUCCESS;
}
API St cublasSetSmCountTarget(H, int) {
  return CUBLAS_STATUS_SUCCESS;
}
API const char* cublasGetStatusName(St s) {
  return statusName(s);
}
API const char* cublasGetStatusString(St s) {
  return statusName(s);
}

// ================================================================= matrix product
struct Gemm {
  bool ta, tb;
  int64_t m, n, k;
  Matrix a, b, c;
  int64_t sa = 0, sb = 0, sc = 0, batch = 1;
  Rounding rnd = AS_IS;
};
static const char* at(const void* p, int64_t elems, int type) {
  return (const char*)p + elems * (int64_t)esize(type);
}
// T: accumulator and scalar type.
template <class T>
static void runGemm(const Gemm& g, T alpha, T beta) {
  std::vector<T> acc((size_t)(g.m * g.n), T(0));
  for (int64_t q = 0; q < g.batch; ++q) {
    Matrix a = g.a, b = g.b;
    a.p = at(a.p, q * g.sa, a.type);
    b.p = at(b.p, q * g.sb, b.type);
    void* c = const_cast<char*>(at(g.c.p, q * g.sc, g.c.type));
    if (alpha != T(0) && g.k)
      product<T>(g.m, g.n, g.k, pack<T>(a, g.ta, g.rnd), pack<T>(b, g.tb, g.rnd), acc);
    for (int64_t j = 0; j < g.n; ++j)
      for (int64_t i = 0; i < g.m; ++i) {
        int64_t e = j * g.c.ld + i;
        T v = alpha * acc[i * g.n + j];
        if (beta != T(0)) v += beta * (T)load(c, g.c.type, e);
        store(c, g.c.type, e, v);
      }
  }
}
static size_t batchBytes(const Matrix& m, int64_t stride, int64_t batch) {
  return m.bytes() ? m.bytes() + (size_t)((batch - 1) * std::llabs(stride)) * esize(m.type) : 0;
}
template <class T>
static St gemm(H h, const char* fn, Op ta, Op tb, int64_t m, int64_t n, int64_t k, const T* al,
               const void* A, int at, int64_t lda, int64_t sa, const void* B, int bt, int64_t ldb,
               int64_t sb, const T* be, void* Cc, int ct, int64_t ldc, int64_t sc, int64_t batch,
               bool fast) {
  NEED_HANDLE;
  REQUIRE(m >= 0 && n >= 0 && k >= 0 && batch >= 0 && al && be);
  int64_t ra = ta ? k : m, ca = ta ? m : k, rb = tb ? n : k, cb = tb ? k : n;
  if (lda < std::max<int64_t>(1, ra) || ldb < std::max<int64_t>(1, rb) ||
      ldc < std::max<int64_t>(1, m)) {
    std::fprintf(stderr, "[cudasim] *** %s: a leading dimension is too small\n", fn);
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (!m || !n || !batch) return CUBLAS_STATUS_SUCCESS;
  Gemm g{
      ta != CUBLAS_OP_N,           tb != CUBLAS_OP_N,         m, n, k, {A, at, ra, ca, lda, false},
      {B, bt, rb, cb, ldb, false}, {Cc, ct, m, n, ldc, false}};
  g.sa = sa;
  g.sb = sb;
  g.sc = sc;
  g.batch = batch;
  bool tf = fast || (h->math & 15) == CUBLAS_TF32_TENSOR_OP_MATH;
  g.rnd = tf && at == CUDA_R_32F && sizeof(T) == 4 ? TO_TF32 : AS_IS;
  Scalar<T> a(h, al), b(h, be);
  std::vector<Use> u;
  a.use(u);
  b.use(u);
  if (!a.zero() && k) {
    u.push_back({"A", A, batchBytes(g.a, sa, batch)});
    u.push_back({"B", B, batchBytes(g.b, sb, batch)});
  }
  u.push_back({"C", Cc, batchBytes(g.c, sc, batch)});
  return submit(fn, h->st, u, [=] { runGemm<T>(g, a.get(), b.get()); });
}
// ================================================================= mixed-type entry points
static St gemmEx(H h, const char* fn, Op ta, Op tb, int64_t m, int64_t n, int64_t k, const void* al,
                 const void* A, int at, int64_t lda, int64_t sa, const void* B, int bt, int64_t ldb,
                 int64_t sb, const void* be, void* Cc, int ct, int64_t ldc, int64_t sc,
                 int64_t batch, cublasComputeType_t ty) {
  NEED_HANDLE;
  bool f64 = ty == CUBLAS_COMPUTE_64F || ty == CUBLAS_COMPUTE_64F_PEDANTIC;
  bool half = ty == CUBLAS_COMPUTE_16F || ty == CUBLAS_COMPUTE_16F_PEDANTIC;
  bool f32 = ty == CUBLAS_COMPUTE_32F || ty == CUBLAS_COMPUTE_32F_PEDANTIC ||
             ty == CUBLAS_COMPUTE_32F_FAST_TF32 || ty == CUBLAS_COMPUTE_32F_FAST_16F ||
             ty == CUBLAS_COMPUTE_32F_FAST_16BF;
  bool lowIn = at == CUDA_R_16F || at == CUDA_R_16BF;
  bool ok = at == bt && ((f64 && at == CUDA_R_64F && ct == CUDA_R_64F) ||
                         (f32 && at == CUDA_R_32F && ct == CUDA_R_32F) ||
                         (f32 && lowIn && (ct == at || ct == CUDA_R_32F)) ||
                         (half && at == CUDA_R_16F && ct == CUDA_R_16F));
  if (!ok) {
    std::fprintf(stderr, "[cudasim] *** %s: this combination of types is not supported\n", fn);
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (f64)
    return gemm<double>(h, fn, ta, tb, m, n, k, (const double*)al, A, at, lda, sa, B, bt, ldb, sb,
                        (const double*)be, Cc, ct, ldc, sc, batch, false);
  if (half) {  // half scalars, read on the host; sums are accumulated in float
    if (h->device()) return CUBLAS_STATUS_NOT_SUPPORTED;
    float a = (float)load(al, CUDA_R_16F, 0), b = (float)load(be, CUDA_R_16F, 0);
    return gemm<float>(h, fn, ta, tb, m, n, k, &a, A, at, lda, sa, B, bt, ldb, sb, &b, Cc, ct, ldc,
                       sc, batch, false);
  }
  bool fast = ty == CUBLAS_COMPUTE_32F_FAST_TF32 || ty == CUBLAS_COMPUTE_32F_FAST_16F ||
              ty == CUBLAS_COMPUTE_32F_FAST_16BF;
  return gemm<float>(h, fn, ta, tb, m, n, k, (const float*)al, A, at, lda, sa, B, bt, ldb, sb,
                     (const float*)be, Cc, ct, ldc, sc, batch, fast);
}
#define GEMM_EX(SUF, I)                                                                            \
  API St cublasGemmEx##SUF(H h, Op ta, Op tb, I m, I n, I k, const void* al, const void* A,        \
                           cudaDataType at, I lda, const void* B, cudaDataType bt, I ldb,          \
                           const void* be, void* Cc, cudaDataType ct, I ldc,                       \
                           cublasComputeType_t ty, cublasGemmAlgo_t) {                             \
    return gemmEx(h, "cublasGemmEx", ta, tb, m, n, k, al, A, at, lda, 0, B, bt, ldb, 0, be, Cc,    \
                  ct, ldc, 0, 1, ty);                                                              \
  }                                                                                                \
  API St cublasGemmStridedBatchedEx##SUF(                                                          \
      H h, Op ta, Op tb, I m, I n, I k, const void* al, const void* A, cudaDataType at, I lda,     \
      long long sa, const void* B, cudaDataType bt, I ldb, long long sb, const void* be, void* Cc, \
      cudaDataType ct, I ldc, long long sc, I bc, cublasComputeType_t ty, cublasGemmAlgo_t) {      \
    return gemmEx(h, "cublasGemmStridedBatchedEx", ta, tb, m, n, k, al, A, at, lda, sa, B, bt,     \
                  ldb, sb, be, Cc, ct, ldc, sc, bc, ty);                                           \
  }
GEMM_EX(, int)
GEMM_EX(_64, int64_t)

// ================================================================= vectors and the rest
static int64_t ix(int64_t i, int64_t n, int64_t inc) {
  return inc >= 0 ? i * inc : (n - 1 - i) * -inc;
}
template <class T>
static St gemv(H h, const char* fn, Op t, int64_t m, int64_t n, const T* al, const T* A,
               int64_t lda, const T* x, int64_t incx, const T* be, T* y, int64_t incy) {
  NEED_HANDLE;
  REQUIRE(m >= 0 && n >= 0 && lda >= std::max<int64_t>(1, m) && incx && incy && al && be);
  int64_t lx = t ? m : n, ly = t ? n : m;
  Scalar<T> a(h, al), b(h, be);
  std::vector<Use> u = {{"A", A, span(m, n, lda) * sizeof(T)},
                        {"x", x, vspan(lx, incx) * sizeof(T)},
                        {"y", y, vspan(ly, incy) * sizeof(T)}};
  a.use(u);
  b.use(u);
  return submit(fn, h->st, u, [=] {
    T av = a.get(), bv = b.get();
    for (int64_t i = 0; i < ly; ++i) {
      T s = 0;
      for (int64_t q = 0; q < lx; ++q)
        s += (t ? A[i * lda + q] : A[q * lda + i]) * x[ix(q, lx, incx)];
      T& o = y[ix(i, ly, incy)];
      o = av * s + (bv == T(0) ? T(0) : bv * o);
    }
  });
}
template <class T>
static St geam(H h, const char* fn, Op ta, Op tb, int64_t m, int64_t n, const T* al, const T* A,
               int64_t lda, const T* be, const T* B, int64_t ldb, T* Cc, int64_t ldc) {
  NEED_HANDLE;
  REQUIRE(m >= 0 && n >= 0 && al && be && ldc >= std::max<int64_t>(1, m));
  REQUIRE(lda >= std::max<int64_t>(1, ta ? n : m) && ldb >= std::max<int64_t>(1, tb ? n : m));
  Scalar<T> a(h, al), b(h, be);
  std::vector<Use> u;
  a.use(u);
  b.use(u);
  if (!a.zero()) u.push_back({"A", A, (ta ? span(n, m, lda) : span(m, n, lda)) * sizeof(T)});
  if (!b.zero()) u.push_back({"B", B, (tb ? span(n, m, ldb) : span(m, n, ldb)) * sizeof(T)});
  u.push_back({"C", Cc, span(m, n, ldc) * sizeof(T)});
  return submit(fn, h->st, u, [=] {
    T av = a.get(), bv = b.get();
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i) {
        T v = 0;
        if (av != T(0)) v += av * (ta ? A[i * lda + j] : A[j * lda + i]);
        if (bv != T(0)) v += bv * (tb ? B[i * ldb + j] : B[j * ldb + i]);
        Cc[j * ldc + i] = v;
      }
  });
}
// A reduction whose result goes to *r: host memory (then the call waits) or device memory.
template <class R>
static St reduce(H h, const char* fn, std::vector<Use> u, R* r, std::function<R()> f) {
  REQUIRE(r);
  if (h->device()) u.push_back({"result (device pointer mode)", r, sizeof(R)});
  return submit(
      fn, h->st, u, [=] { *r = f(); }, !h->device());
}
// *r = finish(sum of term(x[i])), summed in double.
template <class I, class T, class Term, class Finish>
static St norm(H h, const char* fn, I n, const T* x, I incx, T* r, Term term, Finish finish) {
  return reduce<T>(h, fn, {{"x", x, vspan(n, incx) * sizeof(T)}}, r, [=] {
    double s = 0;
    for (I i = 0; i < n; ++i)
      s += term(x[ix(i, n, incx)]);
    return (T)finish(s);
  });
}
#define TYPED(P, T, CT, SUF, I)                                                                    \
  API St cublas##P##gemm_v2##SUF(H h, Op ta, Op tb, I m, I n, I k, const T* al, const T* A, I lda, \
                                 const T* B, I ldb, const T* be, T* Cc, I ldc) {                   \
    return gemm<T>(h, "cublas" #P "gemm", ta, tb, m, n, k, al, A, CT, lda, 0, B, CT, ldb, 0, be,   \
                   Cc, CT, ldc, 0, 1, false);                                                      \
  }                                                                                                \
  API St cublas##P##gemmStridedBatched##SUF(                                                       \
      H h, Op ta, Op tb, I m, I n, I k, const T* al, const T* A, I lda, long long sa, const T* B,  \
      I ldb, long long sb, const T* be, T* Cc, I ldc, long long sc, I bc) {                        \
    return gemm<T>(h, "cublas" #P "gemmStridedBatched", ta, tb, m, n, k, al, A, CT, lda, sa, B,    \
                   CT, ldb, sb, be, Cc, CT, ldc, sc, bc, false);                                   \
  }                                                                                                \
  API St cublas##P##gemv_v2##SUF(H h, Op t, I m, I n, const T* al, const T* A, I lda, const T* x,  \
                                 I incx, const T* be, T* y, I incy) {                              \
    return gemv<T>(h, "cublas" #P "gemv", t, m, n, al, A, lda, x, incx, be, y, incy);              \
  }                                                                                                \
  API St cublas##P##geam##SUF(H h, Op ta, Op tb, I m, I n, const T* al, const T* A, I lda,         \
                              const T* be, const T* B, I ldb, T* Cc, I ldc) {                      \
    return geam<T>(h, "cublas" #P "geam", ta, tb, m, n, al, A, lda, be, B, ldb, Cc, ldc);          \
  }                                                                                                \
  API St cublas##P##axpy_v2##SUF(H h, I n, const T* al, const T* x, I incx, T* y, I incy) {        \
    NEED_HANDLE;                                                                                   \
    REQUIRE(al);                                                                                   \
    Scalar<T> a(h, al);                                                                            \
    std::vector<Use> u = {{"x", x, vspan(n, incx) * sizeof(T)},                                    \
                          {"y", y, vspan(n, incy) * sizeof(T)}};                                   \
    a.use(u);                                                                                      \
    return submit("cublas" #P "axpy", h->st, u, [=] {                                              \
      T av = a.get();                                                                              \
      for (I i = 0; i < n; ++i)                                                                    \
        y[ix(i, n, incy)] += av * x[ix(i, n, incx)];                                               \
    });                                                                                            \
  }                                                                                                \
  API St cublas##P##scal_v2##SUF(H h, I n, const T* al, T* x, I incx) {                            \
    NEED_HANDLE;                                                                                   \
    REQUIRE(al);                                                                                   \
    Scalar<T> a(h, al);                                                                            \
    std::vector<Use> u = {{"x", x, vspan(n, incx) * sizeof(T)}};                                   \
    a.use(u);                                                                                      \
    return submit("cublas" #P "scal", h->st, u, [=] {                                              \
      T av = a.get();                                                                              \
      for (I i = 0; i < n; ++i)                                                                    \
        x[ix(i, n, incx)] *= av;                                                                   \
    });                                                                                            \
  }                                                                                                \
  API St cublas##P##copy_v2##SUF(H h, I n, const T* x, I incx, T* y, I incy) {                     \
    NEED_HANDLE;                                                                                   \
    std::vector<Use> u = {{"x", x, vspan(n, incx) * sizeof(T)},                                    \
                          {"y", y, vspan(n, incy) * sizeof(T)}};                                   \
    return submit("cublas" #P "copy", h->st, u, [=] {                                              \
      for (I i = 0; i < n; ++i)                                                                    \
        y[ix(i, n, incy)] = x[ix(i, n, incx)];                                                     \
    });                                                                                            \
  }                                                                                                \
  API St cublas##P##swap_v2##SUF(H h, I n, T* x, I incx, T* y, I incy) {                           \
    NEED_HANDLE;                                                                                   \
    std::vector<Use> u = {{"x", x, vspan(n, incx) * sizeof(T)},                                    \
                          {"y", y, vspan(n, incy) * sizeof(T)}};                                   \
    return submit("cublas" #P "swap", h->st, u, [=] {                                              \
      for (I i = 0; i < n; ++i)                                                                    \
        std::swap(y[ix(i, n, incy)], x[ix(i, n, incx)]);                                           \
    });                                                                                            \
  }                                                                                                \
  API St cublas##P##dot_v2##SUF(H h, I n, const T* x, I incx, const T* y, I incy, T* r) {          \
    NEED_HANDLE;                                                                                   \
    std::vector<Use> u = {{"x", x, vspan(n, incx) * sizeof(T)},                                    \
                          {"y", y, vspan(n, incy) * sizeof(T)}};                                   \
    return reduce<T>(h, "cublas" #P "dot", u, r, [=] {                                             \
      double s = 0;                                                                                \
      for (I i = 0; i < n; ++i)                                                                    \
        s += (double)x[ix(i, n, incx)] * y[ix(i, n, incy)];                                        \
      return (T)s;                                                                                 \
    });                                                                                            \
  }                                                                                                \
  API St cublas##P##nrm2_v2##SUF(H h, I n, const T* x, I incx, T* r) {                             \
    NEED_HANDLE;                                                                                   \
    return norm(                                                                                   \
        h, "cublas" #P "nrm2", n, x, incx, r, [](double v) { return v * v; },                      \
        [](double s) { return std::sqrt(s); });                                                    \
  }                                                                                                \
  API St cublas##P##asum_v2##SUF(H h, I n, const T* x, I incx, T* r) {                             \
    NEED_HANDLE;                                                                                   \
    return norm(                                                                                   \
        h, "cublas" #P "asum", n, x, incx, r, [](double v) { return std::fabs(v); },               \
        [](double s) { return s; });                                                               \
  }                                                                                                \
  API St cublas##P##ger_v2##SUF(H h, I m, I n, const T* al, const T* x, I incx, const T* y,        \
                                I incy, T* A, I lda) {                                             \
    NEED_HANDLE;                                                                                   \
    REQUIRE(al&& lda >= std::max<I>(1, m));                                                        \
    Scalar<T> a(h, al);                                                                            \
    std::vector<Use> u = {{"x", x, vspan(m, incx) * sizeof(T)},                                    \
                          {"y", y, vspan(n, incy) * sizeof(T)},                                    \
                          {"A", A, span(m, n, lda) * sizeof(T)}};                                  \
    a.use(u);                                                                                      \
    return submit("cublas" #P "ger", h->st, u, [=] {                                               \
      T av = a.get();                                                                              \
      for (int64_t j = 0; j < n; ++j)                                                              \
        for (int64_t i = 0; i < m; ++i)                                                            \
          A[j * lda + i] += av * x[ix(i, m, incx)] * y[ix(j, n, incy)];                            \
    });                                                                                            \
  }
TYPED(S, float, CUDA_R_32F, , int)
TYPED(S, float, CUDA_R_32F, _64, int64_t)
TYPED(D, double, CUDA_R_64F, , int)
TYPED(D, double, CUDA_R_64F, _64, int64_t)

#define AMAX(NAME, T)                                                             \
  API St NAME(H h, int n, const T* x, int incx, int* r) {                         \
    NEED_HANDLE;                                                                  \
    return reduce<int>(h, #NAME, {{"x", x, vspan(n, incx) * sizeof(T)}}, r, [=] { \
      int best = 0;                                                               \
      T m = -1;                                                                   \
      for (int i = 0; i < n; ++i) {                                               \
        T v = std::fabs(x[ix(i, n, incx)]);                                       \
        if (v > m) {                                                              \
          m = v;                                                                  \
          best = i + 1;                                                           \
        }                                                                         \
      }                                                                           \
      return best;                                                                \
    });                                                                           \
  }
AMAX(cublasIsamax_v2, float)
AMAX(cublasIdamax_v2, double)
