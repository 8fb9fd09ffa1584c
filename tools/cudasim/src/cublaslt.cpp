// Replacement libcublasLt: matrix product with epilogues.
#include "blas.hpp"

using namespace cudasim;
using St = cublasStatus_t;

namespace {
struct Layout {  // stored in cublasLtMatrixLayoutOpaque_t
  int32_t type, order;
  uint64_t rows, cols;
  int64_t ld;
  int32_t batch, pad;
  int64_t stride;
};
struct Desc {  // stored in cublasLtMatmulDescOpaque_t
  int32_t compute, scale, pointerMode, transA, transB, transC, fill, epilogue;
  void *bias, *aux;
  int64_t biasStride, auxLd, auxStride;
  int32_t auxType, biasType, smTarget;
  int8_t fastAccum;
};
struct Pref {
  uint64_t workspace;
  uint32_t searchMode;
};
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(Desc) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(Pref) <= sizeof(cublasLtMatmulPreferenceOpaque_t));
template <class To, class From>
To* as(From p) {
  return (To*)(void*)p;
}
}  // namespace

// ================================================================= handle and versions
API St cublasLtCreate(cublasLtHandle_t* h) {
  int n = 0;
  if (cudaGetDeviceCount(&n) != cudaSuccess || !n) return CUBLAS_STATUS_NOT_INITIALIZED;
  *h = (cublasLtHandle_t) new int(1);
  return CUBLAS_STATUS_SUCCESS;
}
API St cublasLtDestroy(cublasLtHandle_t h) {
  delete (int*)h;
  return CUBLAS_STATUS_SUCCESS;
}
API size_t cublasLtGetVersion() {
  return 130000;
}
API size_t cublasLtGetCudartVersion() {
  return 13000;
}
API St cublasLtGetProperty(libraryPropertyType t, int* v) {
  *v = t == MAJOR_VERSION ? 13 : 0;
  return CUBLAS_STATUS_SUCCESS;
}
API const char* cublasLtGetStatusName(St s) {
  return statusName(s);
}
API const char* cublasLtGetStatusString(St s) {
  return statusName(s);
}
API St cublasLtLoggerSetLevel(int) {
  return CUBLAS_STATUS_SUCCESS;
}

// ================================================================= attributes
namespace {
struct Field {
  int id;
  size_t off, size;
};
const Field descFields[] = {
    {CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, offsetof(Desc, compute), 4},
    {CUBLASLT_MATMUL_DESC_SCALE_TYPE, offsetof(Desc, scale), 4},
    {CUBLASLT_MATMUL_DESC_POINTER_MODE, offsetof(Desc, pointerMode), 4},
    {CUBLASLT_MATMUL_DESC_TRANSA, offsetof(Desc, transA), 4},
    {CUBLASLT_MATMUL_DESC_TRANSB, offsetof(Desc, transB), 4},
    {CUBLASLT_MATMUL_DESC_TRANSC, offsetof(Desc, transC), 4},
    {CUBLASLT_MATMUL_DESC_FILL_MODE, offsetof(Desc, fill), 4},
    {CUBLASLT_MATMUL_DESC_EPILOGUE, offsetof(Desc, epilogue), 4},
    {CUBLASLT_MATMUL_DESC_BIAS_POINTER, offsetof(Desc, bias), 8},
    {CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, offsetof(Desc, biasStride), 8},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, offsetof(Desc, aux), 8},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, offsetof(Desc, auxLd), 8},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, offsetof(Desc, auxStride), 8},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, offsetof(Desc, auxType), 4},
    {CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, offsetof(Desc, biasType), 4},
    {CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, offsetof(Desc, smTarget), 4},
    {CUBLASLT_MATMUL_DESC_FAST_ACCUM, offsetof(Desc, fastAccum), 1},
};
const Field layoutFields[] = {
    {CUBLASLT_MATRIX_LAYOUT_TYPE, offsetof(Layout, type), 4},
    {CUBLASLT_MATRIX_LAYOUT_ORDER, offsetof(Layout, order), 4},
    {CUBLASLT_MATRIX_LAYOUT_ROWS, offsetof(Layout, rows), 8},
    {CUBLASLT_MATRIX_LAYOUT_COLS, offsetof(Layout, cols), 8},
    {CUBLASLT_MATRIX_LAYOUT_LD, offsetof(Layout, ld), 8},
    {CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, offsetof(Layout, batch), 4},
    {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, offsetof(Layout, stride), 8},
};
const Field prefFields[] = {
    {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, offsetof(Pref, workspace), 8},
    {CUBLASLT_MATMUL_PREF_SEARCH_MODE, offsetof(Pref, searchMode), 4},
};
template <size_t N>
St setField(const Field (&fs)[N], void* obj, int id, const void* buf, size_t n, const char* what) {
  if (!obj || !buf) return CUBLAS_STATUS_INVALID_VALUE;
  for (const Field& f : fs)
    if (f.id == id) {
      if (n < f.size) return CUBLAS_STATUS_INVALID_VALUE;
      std::memcpy((char*)obj + f.off, buf, f.size);
      return CUBLAS_STATUS_SUCCESS;
    }
  std::fprintf(stderr, "[cudasim] %s: attribute %d is not supported\n", what, id);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}
template <size_t N>
St getField(const Field (&fs)[N], const void* obj, int id, void* buf, size_t n, size_t* written) {
  for (const Field& f : fs)
    if (f.id == id) {
      if (written) *written = f.size;
      if (!n) return CUBLAS_STATUS_SUCCESS;
      if (n < f.size || !buf) return CUBLAS_STATUS_INVALID_VALUE;
      std::memcpy(buf, (const char*)obj + f.off, f.size);
      return CUBLAS_STATUS_SUCCESS;
    }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}
}  // namespace

API St cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t d, size_t n, cublasComputeType_t c,
                                       cudaDataType_t s) {
  if (!d || n < sizeof *d) return CUBLAS_STATUS_ALLOC_FAILED;
  std::memset(d, 0, sizeof *d);
  Desc* p = as<Desc>(d);
  p->compute = c;
  p->scale = s;
  p->epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  p->fill = CUBLAS_FILL_MODE_FULL;
  p->auxType = p->biasType = -1;
  return CUBLAS_STATUS_SUCCESS;
}
API St cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* d, cublasComputeType_t c, cudaDataType_t s) {
  *d = new cublasLtMatmulDescOpaque_t;
  return cublasLtMatmulDescInit_internal(*d, sizeof **d, c, s);
}
API St cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d) {
  delete d;
  return CUBLAS_STATUS_SUCCESS;
}
API St cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t a,
                                      const void* b, size_t n) {
  return setField(descFields, d, a, b, n, "cublasLtMatmulDescSetAttribute");
}
API St cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t a,
                                      void* b, size_t n, size_t* w) {
  return getField(descFields, d, a, b, n, w);
}
API St cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t l, size_t n, cudaDataType t,
                                         uint64_t rows, uint64_t cols, int64_t ld) {
  if (!l || n < sizeof *l) return CUBLAS_STATUS_ALLOC_FAILED;
  std::memset(l, 0, sizeof *l);
  Layout* p = as<Layout>(l);
  p->type = t;
  p->order = CUBLASLT_ORDER_COL;
  p->rows = rows;
  p->cols = cols;
  p->ld = ld;
  p->batch = 1;
  return CUBLAS_STATUS_SUCCESS;
}
API St cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* l, cudaDataType t, uint64_t rows,
                                  uint64_t cols, int64_t ld) {
  *l = new cublasLtMatrixLayoutOpaque_t;
  return cublasLtMatrixLayoutInit_internal(*l, sizeof **l, t, rows, cols, ld);
}
API St cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l) {
  delete l;
  return CUBLAS_STATUS_SUCCESS;
}
API St cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t l, cublasLtMatrixLayoutAttribute_t a,
                                        const void* b, size_t n) {
  return setField(layoutFields, l, a, b, n, "cublasLtMatrixLayoutSetAttribute");
}
API St cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t l, cublasLtMatrixLayoutAttribute_t a,
                                        void* b, size_t n, size_t* w) {
  return getField(layoutFields, l, a, b, n, w);
}
API St cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t p, size_t n) {
  if (!p || n < sizeof *p) return CUBLAS_STATUS_ALLOC_FAILED;
  std::memset(p, 0, sizeof *p);
  return CUBLAS_STATUS_SUCCESS;
}
API St cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* p) {
  *p = new cublasLtMatmulPreferenceOpaque_t;
  return cublasLtMatmulPreferenceInit_internal(*p, sizeof **p);
}
API St cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p) {
  delete p;
  return CUBLAS_STATUS_SUCCESS;
}
API St cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                            cublasLtMatmulPreferenceAttributes_t a, const void* b,
                                            size_t n) {
  St s = setField(prefFields, p, a, b, n, "cublasLtMatmulPreferenceSetAttribute");
  // The other preferences have no effect.
  return s == CUBLAS_STATUS_NOT_SUPPORTED ? CUBLAS_STATUS_SUCCESS : s;
}
API St cublasLtMatmulPreferenceGetAttribute(cublasLtMatmulPreference_t p,
                                            cublasLtMatmulPreferenceAttributes_t a, void* b,
                                            size_t n, size_t* w) {
  return getField(prefFields, p, a, b, n, w);
}

// ================================================================= the product
namespace {
enum : int {
  RELU = 2,
  BIAS = 4,
  DRELU = 8,
  BGRAD = 16,
  GELU = 32,
  DGELU = 64,
  AUX = 128,
  BGRADA = 256,
  BGRADB = 512
};

Matrix matrixOf(const Layout& l, const void* p) {
  return {p, l.type, (int64_t)l.rows, (int64_t)l.cols, l.ld, l.order == CUBLASLT_ORDER_ROW};
}
St refuse(St s, const char* why) {
  std::fprintf(stderr, "[cudasim] cublasLtMatmul: %s\n", why);
  return s;
}
int biasTypeOf(const Desc& d, int dType) {
  return d.biasType >= 0 ? d.biasType : dType;
}
int auxTypeOf(const Desc& d, int dType) {
  return d.auxType >= 0 ? d.auxType : dType;
}

// Checks that the shim (and the real library) supports this product.
St checkProduct(const Desc& d, const Layout& a, const Layout& b, const Layout& c, const Layout& o) {
  const St bad = CUBLAS_STATUS_INVALID_VALUE, no = CUBLAS_STATUS_NOT_SUPPORTED;
  for (const Layout* l : {&a, &b, &c, &o}) {
    if (l->order != CUBLASLT_ORDER_COL && l->order != CUBLASLT_ORDER_ROW)
      return refuse(no, "matrix order");
    if (l->ld < (int64_t)(l->order == CUBLASLT_ORDER_ROW ? l->cols : l->rows))
      return refuse(bad, "a leading dimension is too small");
    if (l->batch != o.batch) return refuse(bad, "the batch counts differ");
  }
  uint64_t m = d.transA ? a.cols : a.rows, k = d.transA ? a.rows : a.cols;
  uint64_t k2 = d.transB ? b.cols : b.rows, n = d.transB ? b.rows : b.cols;
  if (k != k2 || m != o.rows || n != o.cols || c.rows != o.rows || c.cols != o.cols)
    return refuse(bad, "the matrix sizes do not agree");
  if (d.transC != CUBLAS_OP_N || c.order != o.order) return refuse(no, "C must be stored like D");
  bool f32 = d.compute == CUBLAS_COMPUTE_32F || d.compute == CUBLAS_COMPUTE_32F_PEDANTIC;
  bool fast = d.compute == CUBLAS_COMPUTE_32F_FAST_TF32 ||
              d.compute == CUBLAS_COMPUTE_32F_FAST_16F || d.compute == CUBLAS_COMPUTE_32F_FAST_16BF;
  bool f64 = d.compute == CUBLAS_COMPUTE_64F || d.compute == CUBLAS_COMPUTE_64F_PEDANTIC;
  bool low = a.type == CUDA_R_16F || a.type == CUDA_R_16BF;
  bool ok =
      a.type == b.type && c.type == o.type &&
      ((f64 && d.scale == CUDA_R_64F && a.type == CUDA_R_64F && o.type == CUDA_R_64F) ||
       ((f32 || fast) && d.scale == CUDA_R_32F && a.type == CUDA_R_32F && o.type == CUDA_R_32F) ||
       (f32 && d.scale == CUDA_R_32F && low && (o.type == a.type || o.type == CUDA_R_32F)));
  if (!ok) return refuse(no, "this combination of types is not supported");
  if (d.pointerMode != CUBLASLT_POINTER_MODE_HOST && d.pointerMode != CUBLASLT_POINTER_MODE_DEVICE)
    return refuse(no, "pointer mode");
  int e = d.epilogue;
  static const int known[] = {
      CUBLASLT_EPILOGUE_DEFAULT,  CUBLASLT_EPILOGUE_RELU,        CUBLASLT_EPILOGUE_RELU_AUX,
      CUBLASLT_EPILOGUE_BIAS,     CUBLASLT_EPILOGUE_RELU_BIAS,   CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
      CUBLASLT_EPILOGUE_DRELU,    CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_GELU,
      CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_BIAS,   CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
      CUBLASLT_EPILOGUE_DGELU,    CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA,
      CUBLASLT_EPILOGUE_BGRADB};
  if (std::find(std::begin(known), std::end(known), e) == std::end(known))
    return refuse(no, "epilogue");
  if (e != CUBLASLT_EPILOGUE_DEFAULT && o.order == CUBLASLT_ORDER_ROW &&
      (e & (AUX | BGRADA | BGRADB)))
    return refuse(no, "this epilogue needs a column-major D");
  if (e & AUX) {
    int64_t unit = (e & (RELU | DRELU)) ? 128 : 8;
    if (d.auxLd < (int64_t)m || d.auxLd % unit)
      return refuse(bad, "the auxiliary leading dimension");
    if (o.batch > 1 && d.auxStride % unit) return refuse(bad, "the auxiliary batch stride");
  }
  return CUBLAS_STATUS_SUCCESS;
}

float gelu(float x) {
  return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
}
float dgelu(float x) {
  float t = std::tanh(0.7978845608f * (x + 0.044715f * x * x * x));
  return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * 0.7978845608f * (1 + 3 * 0.044715f * x * x);
}

template <class T>
void runProduct(const Desc& d, const Layout& la, const Layout& lb, const Layout& lc,
                const Layout& ld, const void* A, const void* B, const void* Cp, void* D, T alpha,
                T beta) {
  const int e = d.epilogue == CUBLASLT_EPILOGUE_DEFAULT ? 0 : d.epilogue;
  Rounding rnd = d.compute != CUBLAS_COMPUTE_32F && d.compute != CUBLAS_COMPUTE_32F_PEDANTIC &&
                         la.type == CUDA_R_32F
                     ? TO_TF32
                     : AS_IS;
  const int64_t m = ld.rows, n = ld.cols;
  const int bt = biasTypeOf(d, ld.type), at = auxTypeOf(d, ld.type);
  for (int64_t q = 0; q < ld.batch; ++q) {
    auto off = [&](const void* p, const Layout& l) {
      return (char*)p + q * l.stride * (int64_t)esize(l.type);
    };
    Matrix a = matrixOf(la, off(A, la)), b = matrixOf(lb, off(B, lb));
    Matrix c = matrixOf(lc, Cp ? off(Cp, lc) : nullptr), o = matrixOf(ld, off(D, ld));
    const int64_t k = d.transA ? a.rows : a.cols;
    std::vector<T> pa = pack<T>(a, d.transA != CUBLAS_OP_N, rnd),
                   pb = pack<T>(b, d.transB != CUBLAS_OP_N, rnd), acc;
    product<T>(m, n, k, pa, pb, acc);
    char* bias = (char*)d.bias + q * d.biasStride * (int64_t)esize(bt);
    char* aux = (char*)d.aux;
    const bool bitmask = e & (RELU | DRELU);
    if (aux) aux += bitmask ? q * d.auxStride / 8 : q * d.auxStride * (int64_t)esize(at);
    std::vector<T> rowSum((size_t)m, T(0));
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i) {
        T v = alpha * acc[i * n + j];
        if (beta != T(0)) v += beta * (T)load(c.p, c.type, c.at(i, j));
        if (e & BIAS) v += (T)load(bias, bt, i);
        int64_t x = j * d.auxLd + i;
        if (e & RELU) {
          bool on = v > T(0);
          if (e & AUX) {
            uint8_t& byte = ((uint8_t*)aux)[x / 8];
            byte = (uint8_t)((byte & ~(1u << (x % 8))) | ((unsigned)on << (x % 8)));
          }
          if (!on) v = v == v ? T(0) : v;
        } else if (e & DRELU) {
          if (!(((const uint8_t*)aux)[x / 8] >> (x % 8) & 1)) v = T(0);
        } else if (e & GELU) {
          if (e & AUX) store(aux, at, x, v);
          v = (T)gelu((float)v);
        } else if (e & DGELU) {
          v *= (T)dgelu((float)load(aux, at, x));
        }
        rowSum[i] += v;
        store(const_cast<void*>(o.p), o.type, o.at(i, j), v);
      }
    if (e & BGRAD)
      for (int64_t i = 0; i < m; ++i)
        store(bias, bt, i, rowSum[i]);
    if (e & BGRADA)
      for (int64_t i = 0; i < m; ++i) {
        T s = 0;
        for (int64_t r = 0; r < k; ++r)
          s += pa[i * k + r];
        store(bias, bt, i, s);
      }
    if (e & BGRADB)
      for (int64_t j = 0; j < n; ++j) {
        T s = 0;
        for (int64_t r = 0; r < k; ++r)
          s += pb[r * n + j];
        store(bias, bt, j, s);
      }
  }
}
size_t extent(const Layout& l) {
  size_t one = matrixOf(l, nullptr).bytes();
  return one ? one + (size_t)((l.batch - 1) * std::llabs(l.stride)) * esize(l.type) : 0;
}
}  // namespace

API St cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t h, cublasLtMatmulDesc_t d,
                                      cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                      cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t o,
                                      cublasLtMatmulPreference_t, int want,
                                      cublasLtMatmulHeuristicResult_t* out, int* got) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (want < 1 || !out || !got) return CUBLAS_STATUS_INVALID_VALUE;
  *got = 0;
  St s = checkProduct(*as<Desc>(d), *as<Layout>(a), *as<Layout>(b), *as<Layout>(c), *as<Layout>(o));
  if (s != CUBLAS_STATUS_SUCCESS) return s;
  std::memset(out, 0, sizeof *out);
  out->algo.data[0] = 1;
  out->state = CUBLAS_STATUS_SUCCESS;
  out->wavesCount = 1;
  *got = 1;
  return CUBLAS_STATUS_SUCCESS;
}
API St cublasLtMatmulAlgoInit(cublasLtHandle_t, cublasComputeType_t, cudaDataType_t, cudaDataType_t,
                              cudaDataType_t, cudaDataType_t, cudaDataType_t, int,
                              cublasLtMatmulAlgo_t* algo) {
  std::memset(algo, 0, sizeof *algo);
  algo->data[0] = 1;
  return CUBLAS_STATUS_SUCCESS;
}
API St cublasLtMatmul(cublasLtHandle_t h, cublasLtMatmulDesc_t dd, const void* alpha, const void* A,
                      cublasLtMatrixLayout_t al, const void* B, cublasLtMatrixLayout_t bl,
                      const void* beta, const void* Cp, cublasLtMatrixLayout_t cl, void* D,
                      cublasLtMatrixLayout_t ol, const cublasLtMatmulAlgo_t* algo, void* ws,
                      size_t wsBytes, cudaStream_t st) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!dd || !al || !bl || !cl || !ol || !alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
  const Desc d = *as<Desc>(dd);
  const Layout la = *as<Layout>(al), lb = *as<Layout>(bl), lc = *as<Layout>(cl),
               lo = *as<Layout>(ol);
  if (St s = checkProduct(d, la, lb, lc, lo); s != CUBLAS_STATUS_SUCCESS) return s;
  if (algo && algo->data[0] != 1)
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "not an algorithm of this library");
  const bool f64 = d.scale == CUDA_R_64F, dev = d.pointerMode == CUBLASLT_POINTER_MODE_DEVICE;
  const int sType = f64 ? CUDA_R_64F : CUDA_R_32F;
  const int e = d.epilogue == CUBLASLT_EPILOGUE_DEFAULT ? 0 : d.epilogue;
  const double av = dev ? 0 : load(alpha, sType, 0), bv = dev ? 0 : load(beta, sType, 0);
  if (!lo.rows || !lo.cols || !lo.batch) return CUBLAS_STATUS_SUCCESS;
  std::vector<Use> u = {{"A", A, extent(la)}, {"B", B, extent(lb)}, {"D", D, extent(lo)}};
  if (dev) {
    u.push_back({"alpha (device pointer mode)", alpha, esize(sType)});
    u.push_back({"beta (device pointer mode)", beta, esize(sType)});
  }
  const bool useC = dev || bv != 0;
  if (useC) u.push_back({"C", Cp, extent(lc)});
  if (wsBytes) u.push_back({"workspace", ws, wsBytes});
  if (e & (BIAS | BGRAD | BGRADA | BGRADB)) {
    if (!d.bias) return refuse(CUBLAS_STATUS_INVALID_VALUE, "the epilogue needs a bias pointer");
    size_t one = (e & BGRADB) ? lo.cols : lo.rows;
    size_t all = one + (size_t)((lo.batch - 1) * std::llabs(d.biasStride));
    u.push_back({"bias", d.bias, all * esize(biasTypeOf(d, lo.type))});
  }
  if (e & AUX) {
    if (!d.aux)
      return refuse(CUBLAS_STATUS_INVALID_VALUE, "the epilogue needs an auxiliary pointer");
    size_t elems =
        (size_t)((lo.cols - 1) * d.auxLd + lo.rows + (lo.batch - 1) * std::llabs(d.auxStride));
    bool mask = e & (RELU | DRELU);
    u.push_back(
        {"auxiliary buffer", d.aux, mask ? (elems + 7) / 8 : elems * esize(auxTypeOf(d, lo.type))});
  }
  return submit("cublasLtMatmul", st, u, [=] {
    double a = dev ? load(alpha, sType, 0) : av, b = dev ? load(beta, sType, 0) : bv;
    if (f64)
      runProduct<double>(d, la, lb, lc, lo, A, B, Cp, D, a, b);
    else
      runProduct<float>(d, la, lb, lc, lo, A, B, Cp, D, (float)a, (float)b);
  });
}
