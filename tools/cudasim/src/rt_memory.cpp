// Allocation, copies, fills, symbols, pointer queries.
#include <sys/mman.h>

#include "rt.hpp"

using namespace cudasim;

#define STREAM(var, handle, what)      \
  CUstream_st* var = streamOf(handle); \
  if (!var) return bad(cudaErrorInvalidResourceHandle, what ": not a stream")
#define UNSAFE(what) \
  if (auto u_ = unsafeCall(what); u_ != cudaSuccess) return u_

// ================================================================= device memory
// For tests of programs: allocations that are refused, as if there was no memory.
static struct { long asked = 0, first = 0, last = 0; } g_refused;

// From now on the allocations of these numbers, counted from 1, are refused; none if first is 0.
// Returns how many were asked for since the last call.
API long cudasim_refuse_allocations(long first, long last) {
  LOCK;
  const long asked = g_refused.asked;
  g_refused = {0, first, last};
  return asked;
}
static bool isRefused() {
  ++g_refused.asked;
  return g_refused.first > 0 && g_refused.first <= g_refused.asked &&
         g_refused.asked <= g_refused.last;
}
static bool fits(size_t n, int dev) {
  return !isRefused() && n <= C().total && C().devs[dev]->used + n <= C().total;
}

API cudaError_t cudaMalloc(void** p, size_t n) {
  LOCK;
  if (!p) return bad(cudaErrorInvalidValue, "cudaMalloc");
  UNSAFE("cudaMalloc");
  *p = nullptr;
  if (!n) return cudaSuccess;
  if (!fits(n, t_dev)) return bad(cudaErrorMemoryAllocation, "cudaMalloc");
  uintptr_t a = devReserve(n);
  devMap(a, n, t_dev, false);
  C().devs[t_dev]->used += n;
  *p = (void*)a;
  return cudaSuccess;
}
static cudaError_t release(void* p, const char* what) {
  auto it = g_ranges.find((uintptr_t)p);
  if (it == g_ranges.end() || it->second.internal) {
    std::string m = std::string(what) + " of a pointer that is not allocated (double free?)";
    return bad(cudaErrorInvalidValue, m.c_str());
  }
  C().devs[it->second.dev]->used -= it->second.hi - it->second.lo;
  devFree((uintptr_t)p);
  return cudaSuccess;
}
API cudaError_t cudaFree(void* p) {
  LOCK;
  if (!p) return cudaSuccess;
  UNSAFE("cudaFree");
  auto it = g_ranges.find((uintptr_t)p);
  // As documented: cudaFree waits for the device, except for memory that came from a pool.
  if (it != g_ranges.end() && !it->second.pool && !C().strictFree) syncDevice(it->second.dev);
  if (C().sticky != cudaSuccess) return ret(C().sticky);
  return release(p, "cudaFree");
}
API cudaError_t cudaMallocAsync(void** p, size_t n, cudaStream_t h) {
  LOCK;
  STREAM(s, h, "cudaMallocAsync");
  if (!p) return bad(cudaErrorInvalidValue, "cudaMallocAsync");
  *p = nullptr;
  if (!n) return cudaSuccess;
  if (!fits(n, s->dev)) return bad(cudaErrorMemoryAllocation, "cudaMallocAsync");
  uintptr_t a = devReserve(n);
  *p = (void*)a;
  if (!s->cap) {
    devMap(a, n, s->dev, true);
    C().devs[s->dev]->used += n;
    return cudaSuccess;
  }
  int dev = s->dev;
  Op op;
  op.label = "memory allocation";
  op.fn = [a, n, dev] {
    if (!fits(n, dev)) return cudaErrorMemoryAllocation;
    devMap(a, n, dev, true);
    C().devs[dev]->used += n;
    return cudaSuccess;
  };
  Node fill;
  fill.addr = a;
  fill.bytes = n;
  return submit(s, std::move(op), cudaGraphNodeTypeMemAlloc, &fill);
}
API cudaError_t cudaFreeAsync(void* p, cudaStream_t h) {
  LOCK;
  STREAM(s, h, "cudaFreeAsync");
  if (!p) return cudaSuccess;
  if (!s->cap && !g_ranges.count((uintptr_t)p))
    return bad(cudaErrorInvalidValue,
               "cudaFreeAsync of a pointer that is not allocated (double free?)");
  Op op;
  op.label = "memory free";
  op.fn = [p] {
    return release(p, "cudaFreeAsync");
  };
  Node fill;
  fill.addr = (uintptr_t)p;
  return submit(s, std::move(op), cudaGraphNodeTypeMemFree, &fill);
}
API cudaError_t cudaMallocFromPoolAsync(void** p, size_t n, cudaMemPool_t, cudaStream_t s) {
  return cudaMallocAsync(p, n, s);
}
API cudaError_t cudaMallocPitch(void** p, size_t* pitch, size_t w, size_t h) {
  *pitch = (w + 511) / 512 * 512;
  return cudaMalloc(p, *pitch * h);
}
// ================================================================= managed and pinned host memory
API cudaError_t cudaMallocManaged(void** p, size_t n, unsigned) {
  LOCK;
  UNSAFE("cudaMallocManaged");
  if (!p || !n) return bad(cudaErrorInvalidValue, "cudaMallocManaged");
  if (!fits(n, t_dev)) return bad(cudaErrorMemoryAllocation, "cudaMallocManaged");
  uintptr_t a = devAlloc(n, 1, t_dev);
  g_ranges[a].internal = false;
  C().devs[t_dev]->used += n;
  *p = (void*)a;
  return cudaSuccess;
}
API cudaError_t cudaMallocHost(void** p, size_t n) {
  LOCK;
  UNSAFE("cudaMallocHost");
  if (isRefused()) return bad(cudaErrorMemoryAllocation, "cudaMallocHost");
  *p = (void*)devAlloc(n, 1, t_dev);
  return cudaSuccess;
}
API cudaError_t cudaHostAlloc(void** p, size_t n, unsigned) {
  return cudaMallocHost(p, n);
}
API cudaError_t cudaFreeHost(void* p) {
  LOCK;
  if (!p) return cudaSuccess;
  UNSAFE("cudaFreeHost");
  auto it = g_ranges.find((uintptr_t)p);
  if (it == g_ranges.end() || it->second.kind != 1)
    return bad(cudaErrorInvalidValue, "cudaFreeHost of a pointer that is not pinned host memory");
  if (!C().strictFree)
    for (int d = 0; d < C().ndev; ++d)
      syncDevice(d);
  size_t r = (it->second.hi - it->second.lo + 4095 + 4096) & ~4095ull;
  devFree((uintptr_t)p);
  munmap(p, r);
  return C().sticky;
}
API cudaError_t cudaHostRegister(void* p, size_t n, unsigned) {
  LOCK;
  UNSAFE("cudaHostRegister");
  if (rangeOf(p)) return bad(cudaErrorHostMemoryAlreadyRegistered, "cudaHostRegister");
  g_ranges[(uintptr_t)p] = {(uintptr_t)p, (uintptr_t)p + n, 1, t_dev, false, true};
  return cudaSuccess;
}
API cudaError_t cudaHostUnregister(void* p) {
  LOCK;
  UNSAFE("cudaHostUnregister");
  if (!g_ranges.count((uintptr_t)p))
    return bad(cudaErrorHostMemoryNotRegistered, "cudaHostUnregister");
  g_ranges.erase((uintptr_t)p);
  g_last = Range{};
  return cudaSuccess;
}
API cudaError_t cudaHostGetDevicePointer(void** d, void* h, unsigned) {
  *d = h;
  return cudaSuccess;
}
API cudaError_t cudaHostGetFlags(unsigned* f, void*) {
  *f = 0;
  return cudaSuccess;
}

// ================================================================= copies
namespace cudasim {
cudaError_t checkCopy(const void* d, const void* s, size_t n, cudaMemcpyKind k) {
  if (!n) return cudaSuccess;
  const Range *rd = rangeOf(d), *rs = rangeOf(s);
  bool dd = inArena(d), sd = inArena(s);
  auto no = [](const char* m) {
    return bad(cudaErrorInvalidValue, m);
  };
  if ((k == cudaMemcpyHostToDevice || k == cudaMemcpyDeviceToDevice) && !rd)
    return no("memcpy: destination is not device memory");
  if ((k == cudaMemcpyDeviceToHost || k == cudaMemcpyDeviceToDevice) && !rs)
    return no("memcpy: source is not device memory");
  if ((k == cudaMemcpyHostToDevice || k == cudaMemcpyHostToHost) && sd)
    return no("memcpy: source is device memory, kind says host");
  if ((k == cudaMemcpyDeviceToHost || k == cudaMemcpyHostToHost) && dd)
    return no("memcpy: destination is device memory, kind says host");
  if ((dd && !rd) || (rd && (uintptr_t)d + n > rd->hi))
    return no("memcpy: destination range out of bounds");
  if ((sd && !rs) || (rs && (uintptr_t)s + n > rs->hi))
    return no("memcpy: source range out of bounds");
  return cudaSuccess;
}
}  // namespace cudasim

namespace {
struct Copy {  // rows of width bytes
  char* d;
  const char* s;
  size_t dp, sp, w, h;
  cudaMemcpyKind k;
  cudaError_t check() const {
    for (size_t r = 0; r < h; ++r)
      if (auto e = checkCopy(d + r * dp, s + r * sp, w, k); e != cudaSuccess) return e;
    return cudaSuccess;
  }
  void run() const {
    DevAccess da;
    for (size_t r = 0; r < h; ++r)
      std::memmove(d + r * dp, s + r * sp, w);
  }
  size_t bytes() const { return w * h; }
};
}  // namespace

// sync: cudaMemcpy and friends. Follows the documented behavior: copies to the device from pageable
// memory are staged and may still be pending at return; copies to pageable memory are complete at
// return; copies from device to device do not wait; with pinned memory only the synchronous calls
// wait.
static cudaError_t copy(Copy c, CUstream_st* s, bool sync) {
  if (!c.bytes()) return cudaSuccess;
  if (c.h == 1) c.dp = c.sp = c.w;
  if (s->cap) {  // graph allocations are not memory yet: everything is checked when the node runs
    if (sync) return bad(cudaErrorStreamCaptureUnsupported, "memcpy");
  } else if (auto e = c.check(); e != cudaSuccess) {
    return e;
  }
  bool srcPageable = !rangeOf(c.s) && !inArena(c.s);
  bool dstPageable = !rangeOf(c.d) && !inArena(c.d);
  bool d2d = inArena(c.d) && inArena(c.s);
  Op op;
  op.label = "memcpy of " + std::to_string(c.bytes()) + " bytes";
  if (C().async && !s->cap && srcPageable && !dstPageable) {
    if (sync) syncStream(s);
    auto stage = std::make_shared<std::vector<char>>(c.bytes());
    for (size_t r = 0; r < c.h; ++r)
      std::memcpy(stage->data() + r * c.w, c.s + r * c.sp, c.w);
    op.fn = [c, stage] {
      if (!rangeOf(c.d))
        return bad(cudaErrorInvalidValue, "memcpy: the destination was freed before the copy ran");
      Copy q = c;
      q.s = stage->data();
      q.sp = q.w;
      q.run();
      return cudaSuccess;
    };
    return submit(s, std::move(op), cudaGraphNodeTypeMemcpy);
  }
  op.fn = [c] {
    if (auto e = c.check(); e != cudaSuccess) return e;  // memory may have been freed since
    c.run();
    return cudaSuccess;
  };
  if (auto e = submit(s, std::move(op), cudaGraphNodeTypeMemcpy); e != cudaSuccess) return e;
  if (!s->cap && ((sync && !d2d) || dstPageable)) syncStream(s);
  return C().sticky;
}
static CUstream_st* legacy() {
  return &C().devs[t_dev]->null;
}

API cudaError_t cudaMemcpy(void* d, const void* s, size_t n, cudaMemcpyKind k) {
  LOCK;
  UNSAFE("cudaMemcpy");
  return copy({(char*)d, (const char*)s, n, n, n, 1, k}, legacy(), true);
}
API cudaError_t cudaMemcpyAsync(void* d, const void* s, size_t n, cudaMemcpyKind k,
                                cudaStream_t h) {
  LOCK;
  STREAM(st, h, "cudaMemcpyAsync");
  return copy({(char*)d, (const char*)s, n, n, n, 1, k}, st, false);
}
static bool devOk(int d) {
  return d >= 0 && d < C().ndev;
}
static cudaError_t peerArgs(const void* d, int dd, const void* s, int sd, size_t n) {
  if (!devOk(dd) || !devOk(sd)) return bad(cudaErrorInvalidDevice, "cudaMemcpyPeer");
  const Range *rd = rangeOf(d), *rs = rangeOf(s);
  if (n && (!rd || !rs || (rd->kind == 0 && rd->dev != dd) || (rs->kind == 0 && rs->dev != sd)))
    return bad(cudaErrorInvalidValue,
               "cudaMemcpyPeer: a pointer is not memory of the device named");
  return cudaSuccess;
}
API cudaError_t cudaMemcpyPeer(void* d, int dd, const void* s, int sd, size_t n) {
  LOCK;
  UNSAFE("cudaMemcpyPeer");
  if (auto e = peerArgs(d, dd, s, sd, n); e != cudaSuccess) return e;
  if (C().async) {  // ordered after earlier work and before later work of both devices
    syncDevice(dd);
    syncDevice(sd);
  }
  return copy({(char*)d, (const char*)s, n, n, n, 1, cudaMemcpyDeviceToDevice}, legacy(), true);
}
API cudaError_t cudaMemcpyPeerAsync(void* d, int dd, const void* s, int sd, size_t n,
                                    cudaStream_t h) {
  LOCK;
  STREAM(st, h, "cudaMemcpyPeerAsync");
  if (auto e = peerArgs(d, dd, s, sd, n); e != cudaSuccess) return e;
  return copy({(char*)d, (const char*)s, n, n, n, 1, cudaMemcpyDeviceToDevice}, st, false);
}
API cudaError_t cudaMemcpy2D(void* d, size_t dp, const void* s, size_t sp, size_t w, size_t h,
                             cudaMemcpyKind k) {
  LOCK;
  UNSAFE("cudaMemcpy2D");
  if (w > dp || w > sp) return bad(cudaErrorInvalidPitchValue, "cudaMemcpy2D");
  return copy({(char*)d, (const char*)s, dp, sp, w, h, k}, legacy(), true);
}
API cudaError_t cudaMemcpy2DAsync(void* d, size_t dp, const void* s, size_t sp, size_t w, size_t h,
                                  cudaMemcpyKind k, cudaStream_t hs) {
  LOCK;
  STREAM(st, hs, "cudaMemcpy2DAsync");
  if (w > dp || w > sp) return bad(cudaErrorInvalidPitchValue, "cudaMemcpy2DAsync");
  return copy({(char*)d, (const char*)s, dp, sp, w, h, k}, st, false);
}
static cudaError_t symbol(const void* sym, size_t n, size_t off, char** p) {
  VarRef* v = varOf(sym, t_dev);
  if (!v) return bad(cudaErrorInvalidSymbol, "copy to or from a symbol");
  if (off + n > v->size)
    return bad(cudaErrorInvalidValue, "copy to or from a symbol: range out of bounds");
  *p = (char*)v->addr[t_dev] + off;
  return cudaSuccess;
}
API cudaError_t cudaMemcpyToSymbol(const void* sym, const void* h, size_t n, size_t off,
                                   cudaMemcpyKind k) {
  LOCK;
  UNSAFE("cudaMemcpyToSymbol");
  char* p;
  if (auto e = symbol(sym, n, off, &p); e != cudaSuccess) return e;
  return copy({p, (const char*)h, n, n, n, 1, k}, legacy(), true);
}
API cudaError_t cudaMemcpyFromSymbol(void* h, const void* sym, size_t n, size_t off,
                                     cudaMemcpyKind k) {
  LOCK;
  UNSAFE("cudaMemcpyFromSymbol");
  char* p;
  if (auto e = symbol(sym, n, off, &p); e != cudaSuccess) return e;
  return copy({(char*)h, p, n, n, n, 1, k}, legacy(), true);
}
API cudaError_t cudaMemcpyToSymbolAsync(const void* sym, const void* h, size_t n, size_t off,
                                        cudaMemcpyKind k, cudaStream_t hs) {
  LOCK;
  STREAM(st, hs, "cudaMemcpyToSymbolAsync");
  char* p;
  if (auto e = symbol(sym, n, off, &p); e != cudaSuccess) return e;
  return copy({p, (const char*)h, n, n, n, 1, k}, st, false);
}
API cudaError_t cudaMemcpyFromSymbolAsync(void* h, const void* sym, size_t n, size_t off,
                                          cudaMemcpyKind k, cudaStream_t hs) {
  LOCK;
  STREAM(st, hs, "cudaMemcpyFromSymbolAsync");
  char* p;
  if (auto e = symbol(sym, n, off, &p); e != cudaSuccess) return e;
  return copy({(char*)h, p, n, n, n, 1, k}, st, false);
}
API cudaError_t cudaGetSymbolAddress(void** p, const void* s) {
  LOCK;
  VarRef* v = varOf(s, t_dev);
  if (!v) return bad(cudaErrorInvalidSymbol, "cudaGetSymbolAddress");
  *p = (void*)v->addr[t_dev];
  return cudaSuccess;
}
API cudaError_t cudaGetSymbolSize(size_t* n, const void* s) {
  LOCK;
  VarRef* v = varOf(s, t_dev);
  if (!v) return bad(cudaErrorInvalidSymbol, "cudaGetSymbolSize");
  *n = v->size;
  return cudaSuccess;
}

// ================================================================= fills
static cudaError_t fill(char* d, size_t pitch, int v, size_t w, size_t h, CUstream_st* s) {
  if (!w || !h) return cudaSuccess;
  auto check = [d, pitch, w, h] {
    const Range* r = rangeOf(d);
    if (!r || (uintptr_t)d + (h - 1) * pitch + w > r->hi)
      return bad(cudaErrorInvalidValue, "memset: range is not device memory");
    return cudaSuccess;
  };
  if (!s->cap)
    if (auto e = check(); e != cudaSuccess) return e;
  Op op;
  op.label = "memset of " + std::to_string(w * h) + " bytes";
  op.fn = [=] {
    if (auto e = check(); e != cudaSuccess) return e;
    DevAccess da;
    for (size_t r = 0; r < h; ++r)
      std::memset(d + r * pitch, v, w);
    return cudaSuccess;
  };
  return submit(s, std::move(op), cudaGraphNodeTypeMemset);
}
API cudaError_t cudaMemset(void* d, int v, size_t n) {
  LOCK;
  UNSAFE("cudaMemset");
  return fill((char*)d, n, v, n, 1, legacy());
}
API cudaError_t cudaMemsetAsync(void* d, int v, size_t n, cudaStream_t h) {
  LOCK;
  STREAM(s, h, "cudaMemsetAsync");
  return fill((char*)d, n, v, n, 1, s);
}
API cudaError_t cudaMemset2D(void* d, size_t p, int v, size_t w, size_t h) {
  LOCK;
  UNSAFE("cudaMemset2D");
  return fill((char*)d, p, v, w, h, legacy());
}
API cudaError_t cudaMemset2DAsync(void* d, size_t p, int v, size_t w, size_t h, cudaStream_t hs) {
  LOCK;
  STREAM(s, hs, "cudaMemset2DAsync");
  return fill((char*)d, p, v, w, h, s);
}

// ================================================================= queries, hints, pools
API cudaError_t cudaMemGetInfo(size_t* f, size_t* t) {
  LOCK;
  *t = C().total;
  *f = C().total - C().devs[t_dev]->used;
  return cudaSuccess;
}
API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* a, const void* p) {
  LOCK;
  std::memset(a, 0, sizeof *a);
  const Range* r = rangeOf(p);
  if (!r) {
    if (inArena(p))
      return bad(cudaErrorInvalidValue,
                 "cudaPointerGetAttributes: freed or foreign device pointer");
    a->type = cudaMemoryTypeUnregistered;
    a->hostPointer = (void*)p;
    a->device = -2;
    return cudaSuccess;
  }
  a->type = r->kind == 0   ? cudaMemoryTypeDevice
            : !r->internal ? cudaMemoryTypeManaged
                           : cudaMemoryTypeHost;
  a->device = r->dev;
  a->devicePointer = (void*)p;
  a->hostPointer = r->kind ? (void*)p : nullptr;
  return cudaSuccess;
}
API cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t) {
  return cudaSuccess;
}
API cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) {
  return cudaSuccess;
}
static cudaError_t pool(cudaMemPool_t* p, int d) {
  LOCK;
  if (!devOk(d)) return bad(cudaErrorInvalidDevice, "memory pool");
  *p = (cudaMemPool_t)(uintptr_t)(0x100 + d);
  return cudaSuccess;
}
API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* p, int d) {
  return pool(p, d);
}
API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* p, int d) {
  return pool(p, d);
}
API cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t) {
  return cudaSuccess;
}
API cudaError_t cudaMemPoolCreate(cudaMemPool_t* p, const cudaMemPoolProps* q) {
  return pool(p, q->location.id);
}
API cudaError_t cudaMemPoolDestroy(cudaMemPool_t) {
  return cudaSuccess;
}
API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return cudaSuccess;
}
API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void* v) {
  std::memset(v, 0, 4);
  return cudaSuccess;
}
API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, size_t) {
  return cudaSuccess;
}
API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) {
  return cudaSuccess;
}
