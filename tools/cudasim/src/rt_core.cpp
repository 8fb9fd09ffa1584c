// Context, device memory arena, fat binaries, kernel launches.
#include <dlfcn.h>
#include <sys/mman.h>

#include "rt.hpp"

using namespace cudasim;

namespace cudasim {
thread_local int t_dev = 0;
thread_local cudaError_t t_last = cudaSuccess;
thread_local bool t_inHostFn = false;
thread_local cudaStreamCaptureMode t_capMode = cudaStreamCaptureModeGlobal;

static long envInt(const char* name, long dflt) {
  const char* e = std::getenv(name);
  return e && *e ? std::strtol(e, nullptr, 0) : dflt;
}
static void atEnd();

Ctx& C() {
  static Ctx* c = [] {
    Ctx* x = new Ctx;
    x->ndev = (int)std::clamp(envInt("CUDASIM_DEVICES", 1), 0l, 16l);
    x->async = envInt("CUDASIM_ASYNC", 0) != 0;
    x->seed = envInt("CUDASIM_SEED", -1);
    x->stats = envInt("CUDASIM_STATS", 0) != 0;
    x->quiet = envInt("CUDASIM_QUIET", 0) != 0;
    x->trace = envInt("CUDASIM_TRACE", 0) != 0;
    x->strictFree = envInt("CUDASIM_STRICT_FREE", 0) != 0;
    x->cc = (int)envInt("CUDASIM_CC", 0);
    x->sms = (int)std::clamp(envInt("CUDASIM_SMS", 4), 1l, 1024l);
    x->total = (size_t)envInt("CUDASIM_MEM_MB", 8192) << 20;
    if (x->seed >= 0) x->rng.seed((uint32_t)x->seed);
    for (int d = 0; d < x->ndev; ++d) {
      x->devs.push_back(std::make_unique<Device>());
      CUstream_st& n = x->devs[d]->null;
      n.dev = d;
      n.null = true;
      n.id = x->ids++;
      x->streams.push_back(&n);
    }
    g_clock = clockNs;
    std::atexit(atEnd);
    return x;
  }();
  return *c;
}

// ================================================================= errors
cudaError_t ret(cudaError_t e) {
  if (e != cudaSuccess) t_last = e;
  return e;
}
cudaError_t bad(cudaError_t e, const char* what) {
  if (!C().quiet)
    std::fprintf(stderr, "[cudasim] %s: %s (%d)\n", what, cudaGetErrorName(e), (int)e);
  return ret(e);
}
cudaError_t stick(const SimError& e) {
  std::fprintf(stderr, "[cudasim] *** %s\n", e.what());
  C().sticky = (cudaError_t)e.code;
  dropAllWork();
  return ret((cudaError_t)e.code);
}
cudaError_t enter() {
  Ctx& c = C();
  if (!c.ndev) return ret(cudaErrorNoDevice);
  if (t_inHostFn) return bad(cudaErrorNotPermitted, "CUDA call from inside a host function");
  if (c.sticky != cudaSuccess) return ret(c.sticky);
  return cudaSuccess;
}

// ================================================================= device memory
// One big reservation. It is PROT_NONE while host code runs, so that host code that dereferences a
// device pointer gets SIGSEGV. Addresses are never used twice.
static constexpr size_t ARENA = 1ull << 38;
static uint8_t* g_arena = nullptr;
static size_t g_top = 0;
static int g_depth = 0;
static bool g_guard = true;

static void arenaInit() {
  if (g_arena) return;
  g_guard = envInt("CUDASIM_GUARD", 1) != 0;
  g_check = envInt("CUDASIM_CHECK", 1) != 0;
  int prot = g_guard ? PROT_NONE : PROT_READ | PROT_WRITE;
  g_arena =
      (uint8_t*)mmap(nullptr, ARENA, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (g_arena == MAP_FAILED) {
    std::perror("[cudasim] mmap");
    std::abort();
  }
}
static void protect(int prot) {
  mprotect(g_arena, (g_top + 0x100000) & ~0xfffull, prot);
}
DevAccess::DevAccess() {
  arenaInit();
  if (g_guard && g_depth++ == 0) protect(PROT_READ | PROT_WRITE);
}
DevAccess::~DevAccess() {
  if (g_guard && --g_depth == 0) protect(PROT_NONE);
}
bool inArena(const void* p) {
  return g_arena && (uint8_t*)p >= g_arena && (uint8_t*)p < g_arena + ARENA;
}
uintptr_t devReserve(size_t n) {
  arenaInit();
  size_t r = (n + 255) / 256 * 256 + 256;
  if (g_top + r > ARENA - (2u << 20)) throw SimError(2, "device address space is full");
  uintptr_t a = (uintptr_t)g_arena + g_top;
  g_top += r;
  if (g_depth) protect(PROT_READ | PROT_WRITE);
  return a;
}
void devMap(uintptr_t a, size_t n, int dev, bool pool) {
  g_ranges[a] = {a, a + n, 0, dev, pool, false};
  if (n <= (256u << 20)) {
    DevAccess da;
    std::memset((void*)a, 0xFF, n);
  }
}
uintptr_t devAlloc(size_t n, int kind, int dev) {
  if (kind == 0) {
    uintptr_t a = devReserve(n);
    g_ranges[a] = {a, a + n, 0, dev, false, true};
    return a;
  }
  size_t r = (n + 4095 + 4096) & ~4095ull;
  uintptr_t a =
      (uintptr_t)mmap(nullptr, r, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  g_ranges[a] = {a, a + n, kind, dev, false, true};
  return a;
}
void devFree(uintptr_t a) {
  auto it = g_ranges.find(a);
  if (it == g_ranges.end()) return;
  uintptr_t lo = (a + 4095) & ~4095ull, hi = it->second.hi & ~4095ull;
  if (it->second.kind == 0 && hi > lo) madvise((void*)lo, hi - lo, MADV_DONTNEED);
  g_ranges.erase(it);
  g_last = Range{};
}
uintptr_t devHeapAlloc(size_t n) {
  return devAlloc(n, 0, g_curDev);
}
void devHeapFree(uintptr_t a) {
  if (a) devFree(a);
}
const Range* rangeOf(const void* p) {
  uintptr_t a = (uintptr_t)p;
  auto it = g_ranges.upper_bound(a);
  if (it == g_ranges.begin()) return nullptr;
  --it;
  return a < it->second.hi || a == it->second.lo ? &it->second : nullptr;
}
void reportLeaks() {
  for (auto& [a, r] : g_ranges)
    if (r.kind == 0 && !r.internal)
      std::fprintf(stderr, "[cudasim] leak: %zu bytes at 0x%zx on device %d\n",
                   (size_t)(r.hi - r.lo), (size_t)a, r.dev);
}
static void atEnd() {
  size_t left = 0;
  for (CUstream_st* s : C().streams)
    left += s->queue.size();
  if (left && !C().quiet)
    std::fprintf(stderr,
                 "[cudasim] the program ended with %zu operations that nothing waited for\n", left);
  if (envInt("CUDASIM_LEAK", 0)) reportLeaks();
  if (C().stats)
    std::fprintf(stderr, "[cudasim] total %llu thread-instructions\n",
                 (unsigned long long)g_stats.insts);
}
uint64_t clockNs() {
  auto t = std::chrono::steady_clock::now().time_since_epoch();
  return (uint64_t)std::chrono::duration_cast<std::chrono::nanoseconds>(t).count();
}

// ================================================================= fat binaries
static std::string unzstd(const uint8_t* p, size_t n, uint64_t raw) {
  static void* z = dlopen("libzstd.so.1", RTLD_NOW);
  using Dec = size_t (*)(void*, size_t, const void*, size_t);
  static Dec dec = z ? (Dec)dlsym(z, "ZSTD_decompress") : nullptr;
  if (!dec) return "";
  std::string s(raw + 1, 0);
  size_t k = dec(s.data(), raw, p, n);
  if (k > raw) return "";
  s.resize(strnlen(s.data(), k));
  return s;
}
// Picks the PTX with the highest target out of a fat binary.
static void parseFat(Fat* f) {
  const uint8_t* p = (const uint8_t*)f->data;
  struct Head {
    uint32_t magic;
    uint16_t ver, hs;
    uint64_t size;
  } h;
  std::memcpy(&h, p, sizeof h);
  if (h.magic != 0xBA55ED50u) {
    std::fprintf(stderr, "[cudasim] bad fat binary magic %x\n", h.magic);
    std::abort();
  }
  const uint8_t *q = p + h.hs, *e = q + h.size;
  int best = -1;
  bool unreadable = false;
  while (q + 64 <= e) {
    uint16_t kind;
    uint32_t hs, sm, csz;
    uint64_t sz, flags, raw;
    std::memcpy(&kind, q, 2);
    std::memcpy(&hs, q + 4, 4);
    std::memcpy(&sz, q + 8, 8);
    std::memcpy(&csz, q + 16, 4);
    std::memcpy(&sm, q + 28, 4);
    std::memcpy(&flags, q + 40, 8);
    std::memcpy(&raw, q + 56, 8);
    if (kind == 1 && (int)sm > best && (!C().cc || (int)sm <= C().cc)) {
      std::string s;
      if (flags & 0x8000)
        s = unzstd(q + hs, csz, raw);
      else if (!(flags & 0x3000))
        s.assign((const char*)q + hs, strnlen((const char*)q + hs, sz));
      if (s.empty()) {
        unreadable = true;
      } else {
        best = (int)sm;
        f->text = std::move(s);
      }
    }
    q += hs + sz;
  }
  if (best < 0 && h.size > 0)
    std::fprintf(
        stderr,
        "[cudasim] no usable PTX in a fat binary%s; build with -arch=sm_XX (which embeds PTX)\n",
        unreadable ? " (compression not understood: do not use --compress-mode=speed)" : "");
}
static Module* moduleOn(Fat* f, int dev) {
  if (f->text.empty()) return nullptr;
  Module*& m = f->mods[dev];
  if (m) return m;
  DevAccess da;
  try {
    m = loadModule(f->text, dev);
  } catch (SimError& x) {
    std::fprintf(stderr, "[cudasim] %s\n", x.what());
    std::abort();
  }
  static bool fixed = C().cc != 0;
  if (!fixed && (!C().cc || m->sm < C().cc)) C().cc = m->sm;
  return m;
}
Func* kernelOf(const void* h, int dev) {
  auto it = C().kernels.find(h);
  if (it == C().kernels.end()) {  // perhaps a cudaKernel_t, which is a function of some device
    for (auto& kv : C().kernels)
      for (auto& fd : kv.second.f)
        if ((const void*)fd.second == h)
          return fd.first == dev ? fd.second : kernelOf(kv.first, dev);
    return nullptr;
  }
  Func*& f = it->second.f[dev];
  if (!f)
    if (Module* m = moduleOn(it->second.fat, dev)) {
      auto g = m->funcs.find(it->second.name);
      if (g != m->funcs.end() && g->second->defined) f = g->second.get();
    }
  return f;
}
VarRef* varOf(const void* s, int dev) {
  auto it = C().vars.find(s);
  if (it == C().vars.end()) return nullptr;
  VarRef& v = it->second;
  if (!v.addr.count(dev)) {
    Module* m = moduleOn(v.fat, dev);
    if (!m) return nullptr;
    auto g = m->gvars.find(v.name);
    if (g == m->gvars.end()) return nullptr;
    v.addr[dev] = g->second.addr;
  }
  return &v;
}

// ================================================================= launches
cudaError_t prepare(Func* f, dim3 g, dim3 b, void** args, size_t sh, bool coop, Prepared& out) {
  if (!f) return bad(cudaErrorInvalidDeviceFunction, "launch of an unknown kernel");
  uint64_t nt = (uint64_t)b.x * b.y * b.z;
  bool blockBad = !nt || nt > 1024 || b.x > 1024 || b.y > 1024 || b.z > 64;
  bool gridBad = !g.x || !g.y || !g.z || g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535;
  if (blockBad || gridBad) return bad(cudaErrorInvalidConfiguration, "launch configuration");
  if (f->maxntid && nt > f->maxntid)
    return bad(cudaErrorInvalidValue, "launch: more threads than __launch_bounds__ allows");
  if (f->reqntid[0] && (b.x != f->reqntid[0] || b.y != f->reqntid[1] || b.z != f->reqntid[2]))
    return bad(cudaErrorInvalidValue, "launch: block size differs from the required one");
  if (sh + f->shStatic > 48 * 1024 && (int)sh > f->maxDynShared)
    return bad(cudaErrorInvalidValue, "launch: dynamic shared memory above the limit");
  int limit = 0;
  cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, t_dev);
  if (sh + f->shStatic > (size_t)limit)
    return bad(cudaErrorInvalidValue, "launch: shared memory above the device limit");
  if (coop &&
      (uint64_t)g.x * g.y * g.z > (uint64_t)blocksPerMultiprocessor(f, (int)nt, sh) * C().sms)
    return bad(cudaErrorCooperativeLaunchTooLarge,
               "cooperative launch of more blocks than run at a time");
  LaunchCfg c;
  c.grid[0] = g.x;
  c.grid[1] = g.y;
  c.grid[2] = g.z;
  c.block[0] = b.x;
  c.block[1] = b.y;
  c.block[2] = b.z;
  c.dyn = sh;
  c.coop = coop;
  out.f = f;
  out.cfg = c;
  out.args = std::make_shared<std::vector<uint8_t>>((f->parSize + 31) / 16 * 16, 0);
  for (size_t k = 0; k < f->params.size(); ++k)
    std::memcpy(out.args->data() + f->params[k].off, args[k], f->params[k].size);
  return cudaSuccess;
}
cudaError_t runKernel(const Prepared& p, int dev) {
  DevAccess da;
  LaunchCfg c = p.cfg;
  uintptr_t ws = 0;
  g_curDev = dev;
  g_last = Range{};
  if (c.coop) {
    ws = devAlloc(64, 0, dev);
    std::memset((void*)ws, 0, 64);
    c.gridWs = ws;
  }
  uint64_t i0 = g_stats.insts, t0 = clockNs();
  cudaError_t r = cudaSuccess;
  try {
    launch(p.f, c, *p.args);
  } catch (SimError& e) {
    r = stick(e);
  }
  if (ws) devFree(ws);
  if (C().stats) {
    double s = (clockNs() - t0) * 1e-9;
    uint64_t n = g_stats.insts - i0;
    std::fprintf(
        stderr,
        "[cudasim] %-60.60s grid %u,%u,%u block %u,%u,%u: %llu thread-instructions %.3f s\n",
        p.f->name.c_str(), c.grid[0], c.grid[1], c.grid[2], c.block[0], c.block[1], c.block[2],
        (unsigned long long)n, s);
  }
  return r;
}
}  // namespace cudasim

// ================================================================= registration by nvcc's start-up
// code
API void** __cudaRegisterFatBinary(void* w) {
  struct Wrapper {
    int magic, ver;
    const void* data;
    void* f;
  };
  std::lock_guard<std::recursive_mutex> lk(C().mu);
  Fat* f = new Fat;
  f->data = ((Wrapper*)w)->data;
  C().fats.push_back(f);
  if (C().ndev) {
    parseFat(f);
    moduleOn(f, 0);
  }
  return (void**)f;
}
API void __cudaRegisterFatBinaryEnd(void**) {}
API void __cudaUnregisterFatBinary(void**) {}
API char __cudaInitModule(void**) {
  return 1;
}
API void __cudaRegisterFunction(void** h, const char* host, char*, const char* name, int, uint3*,
                                uint3*, dim3*, dim3*, int*) {
  std::lock_guard<std::recursive_mutex> lk(C().mu);
  C().kernels[host] = {(Fat*)h, name, {}};
}
API void __cudaRegisterVar(void** h, char* host, char*, const char* name, int, size_t size, int,
                           int) {
  std::lock_guard<std::recursive_mutex> lk(C().mu);
  C().vars[host] = {(Fat*)h, name, size, {}};
}
API void __cudaRegisterManagedVar(void** h, void** host, char*, const char* name, int, size_t size,
                                  int, int) {
  std::lock_guard<std::recursive_mutex> lk(C().mu);
  C().vars[host] = {(Fat*)h, name, size, {}};
  if (!C().ndev) return;
  if (VarRef* v = varOf(host, 0)) {
    *host = (void*)v->addr[0];
    C().vars[*host] = *v;
  }
}

// ================================================================= launch entry points
namespace {
struct CallCfg {
  dim3 g, b;
  size_t sh;
  void* st;
};
thread_local std::vector<CallCfg> t_cfg;
}  // namespace

static cudaError_t launchOn(Func* f, const void* host, dim3 g, dim3 b, void** a, size_t sh,
                            cudaStream_t st, bool coop) {
  CUstream_st* s = streamOf(st);
  if (!s) return bad(cudaErrorInvalidResourceHandle, "launch: not a stream");
  if (s->dev != t_dev)
    return bad(cudaErrorInvalidResourceHandle, "launch: the stream belongs to another device");
  Prepared p;
  if (auto e = prepare(f, g, b, a, sh, coop, p); e != cudaSuccess) return e;
  Op op;
  op.label = f->name;
  int dev = s->dev;
  op.fn = [p, dev] {
    return runKernel(p, dev);
  };
  Node fill;
  fill.func = f;
  fill.hostFunc = host;
  fill.cfg = p.cfg;
  fill.args = p.args;
  return submit(s, std::move(op), cudaGraphNodeTypeKernel, &fill);
}
API unsigned __cudaPushCallConfiguration(dim3 g, dim3 b, size_t sh, struct CUstream_st* st) {
  t_cfg.push_back({g, b, sh, st});
  return 0;
}
API cudaError_t __cudaPopCallConfiguration(dim3* g, dim3* b, size_t* sh, void* st) {
  if (t_cfg.empty()) return cudaErrorMissingConfiguration;
  CallCfg c = t_cfg.back();
  t_cfg.pop_back();
  *g = c.g;
  *b = c.b;
  *sh = c.sh;
  *(void**)st = c.st;
  return cudaSuccess;
}
// The kernel handle is the host symbol itself, so that it means the right function on every device.
API cudaError_t __cudaGetKernel(cudaKernel_t* k, const void* h) {
  std::lock_guard<std::recursive_mutex> lk(C().mu);
  if (!C().kernels.count(h))
    return ret(C().ndev ? cudaErrorInvalidDeviceFunction : cudaErrorNoDevice);
  *k = (cudaKernel_t)h;
  return cudaSuccess;
}
API cudaError_t cudaLaunchKernel(const void* f, dim3 g, dim3 b, void** a, size_t sh,
                                 cudaStream_t st) {
  LOCK;
  return launchOn(kernelOf(f, t_dev), f, g, b, a, sh, st, false);
}
API cudaError_t __cudaLaunchKernel(cudaKernel_t k, dim3 g, dim3 b, void** a, size_t sh,
                                   cudaStream_t st) {
  return cudaLaunchKernel((const void*)k, g, b, a, sh, st);
}
API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t k, dim3 g, dim3 b, void** a, size_t sh,
                                        cudaStream_t st) {
  return cudaLaunchKernel((const void*)k, g, b, a, sh, st ? st : cudaStreamPerThread);
}
API cudaError_t cudaLaunchCooperativeKernel(const void* f, dim3 g, dim3 b, void** a, size_t sh,
                                            cudaStream_t st) {
  LOCK;
  return launchOn(kernelOf(f, t_dev), f, g, b, a, sh, st, true);
}
API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* c, const void* f, void** a) {
  LOCK;
  bool coop = false;
  for (unsigned k = 0; k < c->numAttrs; ++k) {
    const cudaLaunchAttribute& at = c->attrs[k];
    if (at.id == cudaLaunchAttributeCooperative) coop = at.val.cooperative != 0;
    if (at.id == cudaLaunchAttributeClusterDimension) {
      auto d = at.val.clusterDim;
      if (d.x * d.y * d.z > 1)
        return bad(cudaErrorNotSupported, "launch: clusters are not simulated");
    }
  }
  return launchOn(kernelOf(f, t_dev), f, c->gridDim, c->blockDim, a, c->dynamicSmemBytes, c->stream,
                  coop);
}

// ================================================================= services for the library shims
// Runs fn as work on a stream (captured, queued or immediately). wait: returns only when it is
// done.
API int cudasim_submit(cudaStream_t st, const char* label, const std::function<int()>* fn,
                       int wait) {
  LOCK;
  CUstream_st* s = streamOf(st);
  if (!s) return bad(cudaErrorInvalidResourceHandle, "library call: not a stream");
  if (wait && s->cap) {
    invalidate(*s->cap);
    return bad(cudaErrorStreamCaptureUnsupported,
               "library call with a host result on a capturing stream");
  }
  Op op;
  op.label = label;
  std::function<int()> f = *fn;
  op.fn = [f] {
    DevAccess da;
    return (cudaError_t)f();
  };
  // a library call becomes a kernel node in a graph
  if (auto e = submit(s, std::move(op), cudaGraphNodeTypeKernel); e != cudaSuccess) return e;
  if (wait) syncStream(s);
  return C().sticky;
}
// Returns whether [p, p+n) is valid memory for device dev (-1: any).
API int cudasim_valid(const void* p, size_t n, int dev) {
  std::lock_guard<std::recursive_mutex> lk(C().mu);
  if (!n) return 1;
  const Range* r = rangeOf(p);
  if (!r || (uintptr_t)p + n > r->hi) return 0;
  return r->kind == 1 || dev < 0 || r->dev == dev || g_peer[dev][r->dev];
}
API int cudasim_stream_device(cudaStream_t st) {
  std::lock_guard<std::recursive_mutex> lk(C().mu);
  CUstream_st* s = C().ndev ? streamOf(st) : nullptr;
  return s ? s->dev : -1;
}
API int cudasim_stream_capturing(cudaStream_t st) {
  std::lock_guard<std::recursive_mutex> lk(C().mu);
  CUstream_st* s = C().ndev ? streamOf(st) : nullptr;
  return s && s->cap;
}
