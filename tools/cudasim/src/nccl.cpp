// Replacement libnccl: collectives over the simulated devices of one process, one thread with groups or one thread
// per rank. A collective is ordered after the earlier work of every rank's stream and before its later work.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nccl.h>
#include <set>
#include <string>
#include <vector>
#define API extern "C" __attribute__((visibility("default")))
extern "C" int cudasim_submit(cudaStream_t, const char*, const std::function<int()>*, int);
extern "C" int cudasim_valid(const void*, size_t, int);

namespace {
enum Kind { ALLREDUCE, BROADCAST, REDUCE, ALLGATHER, REDUCESCATTER };
const char* const kindName[] = {"ncclAllReduce", "ncclBroadcast", "ncclReduce", "ncclAllGather",
                                "ncclReduceScatter"};

struct Call {  // One call of one rank.
  Kind kind;
  const void* send;
  void* recv;
  size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;
  int root;
  cudaStream_t stream;
  bool launched = false;
  ncclResult_t result = ncclSuccess;
};
struct Clique {  // State shared by the ranks of a communicator.
  int n = 0, joined = 0;
  std::vector<int> dev;
  std::vector<std::deque<std::shared_ptr<Call>>> waiting;
  bool broken = false;
};
std::mutex g_mu;
std::condition_variable g_cv;
std::map<std::string, std::shared_ptr<Clique>> g_cliques;
thread_local std::string t_error;
}  // namespace

struct ncclComm {
  std::shared_ptr<Clique> c;
  int rank, dev;
};

namespace {
struct GroupItem {
  ncclComm* comm;
  std::shared_ptr<Call> call;
};
thread_local int t_depth = 0;
thread_local std::vector<GroupItem> t_items;
thread_local std::vector<ncclComm*> t_joins;

ncclResult_t fail(ncclResult_t r, const std::string& why) {
  std::fprintf(stderr, "[cudasim] *** nccl: %s\n", why.c_str());
  t_error = why;
  return r;
}
std::chrono::seconds patience() {
  const char* e = std::getenv("CUDASIM_NCCL_TIMEOUT_S");
  return std::chrono::seconds(e ? std::atoi(e) : 20);
}
struct OnDevice {  // Sets the current device and restores the previous one.
  int old = 0;
  explicit OnDevice(int d) {
    cudaGetDevice(&old);
    cudaSetDevice(d);
  }
  ~OnDevice() { cudaSetDevice(old); }
};

// ---- elements
size_t sizeOf(ncclDataType_t t) {
  switch (t) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      return 0;
  }
}
struct Half {
  uint16_t u;
  operator float() const {
    _Float16 h;
    std::memcpy(&h, &u, 2);
    return (float)h;
  }
  Half(float f) {
    _Float16 h = (_Float16)f;
    std::memcpy(&u, &h, 2);
  }
};
struct Bf16 {
  uint16_t u;
  operator float() const {
    uint32_t x = (uint32_t)u << 16;
    float f;
    std::memcpy(&f, &x, 4);
    return f;
  }
  Bf16(float f) {
    uint32_t x;
    std::memcpy(&x, &f, 4);
    u = f != f ? 0x7fff : (uint16_t)((x + 0x7fff + ((x >> 16) & 1)) >> 16);
  }
};
template <class T, class Acc>
void reduceAs(const std::vector<const void*>& in, size_t off, size_t n, ncclRedOp_t op, std::vector<char>& out) {
  out.resize(n * sizeof(T));
  for (size_t i = 0; i < n; ++i) {
    Acc a = (Acc)((const T*)in[0])[off + i];
    for (size_t r = 1; r < in.size(); ++r) {
      Acc b = (Acc)((const T*)in[r])[off + i];
      switch (op) {
        case ncclProd:
          a = a * b;
          break;
        case ncclMax:
          a = a > b ? a : b;
          break;
        case ncclMin:
          a = a < b ? a : b;
          break;
        default:
          a = a + b;
      }
    }
    if (op == ncclAvg) a = a / (Acc)in.size();
    T t = (T)a;
    std::memcpy(out.data() + i * sizeof(T), &t, sizeof(T));
  }
}
void reduceAny(const std::vector<const void*>& in, size_t off, size_t n, ncclDataType_t t, ncclRedOp_t op,
               std::vector<char>& out) {
  switch (t) {
    case ncclInt8:
      return reduceAs<int8_t, int8_t>(in, off, n, op, out);
    case ncclUint8:
      return reduceAs<uint8_t, uint8_t>(in, off, n, op, out);
    case ncclInt32:
      return reduceAs<int32_t, int32_t>(in, off, n, op, out);
    case ncclUint32:
      return reduceAs<uint32_t, uint32_t>(in, off, n, op, out);
    case ncclInt64:
      return reduceAs<int64_t, int64_t>(in, off, n, op, out);
    case ncclUint64:
      return reduceAs<uint64_t, uint64_t>(in, off, n, op, out);
    case ncclFloat32:
      return reduceAs<float, float>(in, off, n, op, out);
    case ncclFloat64:
      return reduceAs<double, double>(in, off, n, op, out);
    case ncclFloat16:
      return reduceAs<Half, float>(in, off, n, op, out);
    default:
      return reduceAs<Bf16, float>(in, off, n, op, out);
  }
}

// Bytes that a rank reads and writes.
size_t sendBytes(const Call& c, int n, int rank) {
  size_t one = c.count * sizeOf(c.type);
  if (c.kind == BROADCAST) return rank == c.root ? one : 0;
  return c.kind == REDUCESCATTER ? one * n : one;
}
size_t recvBytes(const Call& c, int n, int rank) {
  size_t one = c.count * sizeOf(c.type);
  if (c.kind == REDUCE) return rank == c.root ? one : 0;
  return c.kind == ALLGATHER ? one * n : one;
}
bool buffersOk(const Call& c, int n, int rank, int dev) {
  for (int k = 0; k < 2; ++k) {
    const void* p = k ? c.recv : c.send;
    size_t b = k ? recvBytes(c, n, rank) : sendBytes(c, n, rank);
    if (cudasim_valid(p, b, dev)) continue;
    fail(ncclInvalidArgument, std::string(kindName[c.kind]) + ": rank " + std::to_string(rank) + ": the " +
                                  (k ? "receive" : "send") + " buffer needs " + std::to_string(b) +
                                  " bytes that are not all memory of device " + std::to_string(dev));
    return false;
  }
  return true;
}
// Runs one collective for all ranks.
int perform(const std::vector<Call>& c, const std::vector<int>& dev) {
  const int n = (int)c.size();
  const Call& f = c[0];
  const size_t one = f.count * sizeOf(f.type);
  std::vector<const void*> in;
  for (int r = 0; r < n; ++r) {
    if (!buffersOk(c[r], n, r, dev[r])) return cudaErrorIllegalAddress;
    in.push_back(c[r].send);
  }
  std::vector<char> out;
  switch (f.kind) {
    case ALLREDUCE:
    case REDUCE:
      reduceAny(in, 0, f.count, f.type, f.op, out);
      for (int r = 0; r < n; ++r)
        if (f.kind == ALLREDUCE || r == f.root) std::memcpy(c[r].recv, out.data(), one);
      break;
    case BROADCAST:
      for (int r = 0; r < n; ++r)
        if (c[r].recv != c[f.root].send) std::memmove(c[r].recv, c[f.root].send, one);
      break;
    case ALLGATHER:
      for (int r = 0; r < n; ++r)
        out.insert(out.end(), (const char*)in[r], (const char*)in[r] + one);
      for (int r = 0; r < n; ++r)
        std::memcpy(c[r].recv, out.data(), one * n);
      break;
    case REDUCESCATTER: {
      std::vector<std::vector<char>> parts(n);
      for (int r = 0; r < n; ++r)
        reduceAny(in, f.count * r, f.count, f.type, f.op, parts[r]);
      for (int r = 0; r < n; ++r)
        std::memcpy(c[r].recv, parts[r].data(), one);
    }
  }
  return 0;
}
// Submits a collective that every rank has called to the streams.
ncclResult_t launch(Clique& q, std::vector<std::shared_ptr<Call>> calls) {
  const int n = q.n;
  std::vector<Call> c;
  for (auto& p : calls)
    c.push_back(*p);
  for (int r = 1; r < n; ++r)
    if (c[r].kind != c[0].kind || c[r].count != c[0].count || c[r].type != c[0].type || c[r].op != c[0].op ||
        c[r].root != c[0].root)
      return fail(ncclInvalidUsage, "ranks 0 and " + std::to_string(r) + " disagree: " + kindName[c[0].kind] +
                                        " of " + std::to_string(c[0].count) + " elements against " +
                                        kindName[c[r].kind] + " of " + std::to_string(c[r].count));
  std::vector<int> dev = q.dev;
  std::function<int()> work = [c, dev] {
    return perform(c, dev);
  };
  cudaError_t e = cudaSuccess;
  auto ok = [&](cudaError_t x) {
    if (x != cudaSuccess && e == cudaSuccess) e = x;
  };
  std::vector<cudaEvent_t> ev(n, nullptr);
  for (int r = 1; r < n; ++r) {  // rank 0's stream waits for the others
    OnDevice d(dev[r]);
    ok(cudaEventCreateWithFlags(&ev[r], cudaEventDisableTiming));
    ok(cudaEventRecord(ev[r], c[r].stream));
  }
  {
    OnDevice d(dev[0]);
    for (int r = 1; r < n; ++r)
      ok(cudaStreamWaitEvent(c[0].stream, ev[r], 0));
    if (e == cudaSuccess) ok((cudaError_t)cudasim_submit(c[0].stream, kindName[c[0].kind], &work, 0));
    if (n > 1) {
      ok(cudaEventCreateWithFlags(&ev[0], cudaEventDisableTiming));
      ok(cudaEventRecord(ev[0], c[0].stream));
    }
  }
  for (int r = 1; r < n; ++r) {  // and the others wait for the result
    OnDevice d(dev[r]);
    ok(cudaStreamWaitEvent(c[r].stream, ev[0], 0));
  }
  for (cudaEvent_t x : ev)
    if (x) cudaEventDestroy(x);
  if (e != cudaSuccess) return fail(ncclUnhandledCudaError, cudaGetErrorString(e));
  return ncclSuccess;
}
// With g_mu held: submits the complete collectives.
void launchReady(Clique& q) {
  for (;;) {
    std::vector<std::shared_ptr<Call>> calls;
    for (auto& w : q.waiting)
      if (!w.empty()) calls.push_back(w.front());
    if ((int)calls.size() != q.n) return;
    for (auto& w : q.waiting)
      w.pop_front();
    ncclResult_t r = launch(q, calls);
    for (auto& c : calls) {
      c->launched = true;
      c->result = r;
    }
    g_cv.notify_all();
  }
}
ncclResult_t runItems(std::vector<GroupItem>& items) {
  std::unique_lock<std::mutex> lk(g_mu);
  for (GroupItem& it : items)
    it.comm->c->waiting[it.comm->rank].push_back(it.call);
  for (GroupItem& it : items)
    launchReady(*it.comm->c);
  ncclResult_t r = ncclSuccess;
  for (GroupItem& it : items) {
    bool done = g_cv.wait_for(lk, patience(), [&] { return it.call->launched || it.comm->c->broken; });
    if (!done || !it.call->launched) {
      it.comm->c->broken = true;
      g_cv.notify_all();
      return fail(ncclInternalError,
                  std::string(kindName[it.call->kind]) + ": rank " + std::to_string(it.comm->rank) +
                      " timed out waiting for the other ranks (a missing call, or several ranks in "
                      "one thread without ncclGroupStart and ncclGroupEnd)");
    }
    if (it.call->result != ncclSuccess) r = it.call->result;
  }
  return r;
}
ncclResult_t ask(ncclComm_t comm, Call c) {
  if (!comm) return fail(ncclInvalidArgument, "no communicator");
  if (!sizeOf(c.type)) return fail(ncclInvalidArgument, "this data type is not supported");
  if (c.op < ncclSum || c.op > ncclAvg) return fail(ncclInvalidArgument, "this reduction is not supported");
  if (c.root < 0 || c.root >= comm->c->n) return fail(ncclInvalidArgument, "root is not a rank");
  if (!buffersOk(c, comm->c->n, comm->rank, comm->dev)) return ncclInvalidArgument;
  std::vector<GroupItem> one = {{comm, std::make_shared<Call>(c)}};
  if (t_depth) {
    t_items.push_back(one[0]);
    return ncclSuccess;
  }
  return runItems(one);
}
ncclResult_t waitJoined(ncclComm* c) {
  std::unique_lock<std::mutex> lk(g_mu);
  if (g_cv.wait_for(lk, patience(), [&] { return c->c->joined == c->c->n; })) return ncclSuccess;
  return fail(ncclInternalError, "ncclCommInitRank: not every rank joined");
}
}  // namespace

// ================================================================= communicators
API ncclResult_t ncclGetVersion(int* v) {
  *v = NCCL_VERSION_CODE;
  return ncclSuccess;
}
API ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static int next = 0;
  std::lock_guard<std::mutex> lk(g_mu);
  std::memset(id, 0, sizeof *id);
  std::snprintf(id->internal, sizeof id->internal, "cudasim-%d", ++next);
  return ncclSuccess;
}
API ncclResult_t ncclCommInitRank(ncclComm_t* out, int n, ncclUniqueId id, int rank) {
  int dev = 0;
  if (cudaGetDevice(&dev) != cudaSuccess) return fail(ncclUnhandledCudaError, "no device");
  if (!out || n < 1 || rank < 0 || rank >= n) return fail(ncclInvalidArgument, "ncclCommInitRank");
  ncclComm* c = new ncclComm;
  {
    std::lock_guard<std::mutex> lk(g_mu);
    auto& q = g_cliques[std::string(id.internal, strnlen(id.internal, sizeof id.internal))];
    if (!q) {
      q = std::make_shared<Clique>();
      q->n = n;
      q->dev.assign(n, -1);
      q->waiting.resize(n);
    }
    bool twice = false;
    for (int d : q->dev)
      twice |= d == dev;
    if (q->n != n || q->dev[rank] >= 0 || twice) {
      delete c;
      return fail(ncclInvalidUsage, twice ? "two ranks on one device" : "ncclCommInitRank: the ranks disagree");
    }
    q->dev[rank] = dev;
    ++q->joined;
    c->c = q;
    c->rank = rank;
    c->dev = dev;
    g_cv.notify_all();
  }
  *out = c;
  if (t_depth) {
    t_joins.push_back(c);
    return ncclSuccess;
  }
  return waitJoined(c);
}
API ncclResult_t ncclCommInitRankConfig(ncclComm_t* out, int n, ncclUniqueId id, int rank, ncclConfig_t*) {
  return ncclCommInitRank(out, n, id, rank);
}
API ncclResult_t ncclCommInitAll(ncclComm_t* out, int n, const int* devs) {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return fail(ncclUnhandledCudaError, "no device");
  if (n < 1 || n > count) return fail(ncclInvalidArgument, "ncclCommInitAll: more ranks than devices");
  ++t_depth;
  ncclResult_t r = ncclSuccess;
  for (int k = 0; k < n && r == ncclSuccess; ++k) {
    OnDevice d(devs ? devs[k] : k);
    r = ncclCommInitRank(&out[k], n, id, k);
  }
  --t_depth;
  t_joins.clear();
  return r;
}
API ncclResult_t ncclCommFinalize(ncclComm_t) {
  return ncclSuccess;
}
API ncclResult_t ncclCommDestroy(ncclComm_t c) {
  delete c;
  return ncclSuccess;
}
API ncclResult_t ncclCommAbort(ncclComm_t c) {
  if (!c) return ncclSuccess;
  {
    std::lock_guard<std::mutex> lk(g_mu);
    c->c->broken = true;
    g_cv.notify_all();
  }
  delete c;
  return ncclSuccess;
}
API ncclResult_t ncclCommGetAsyncError(ncclComm_t c, ncclResult_t* r) {
  std::lock_guard<std::mutex> lk(g_mu);
  *r = c->c->broken ? ncclInternalError : ncclSuccess;
  return ncclSuccess;
}
API ncclResult_t ncclCommCount(const ncclComm_t c, int* n) {
  *n = c->c->n;
  return ncclSuccess;
}
API ncclResult_t ncclCommCuDevice(const ncclComm_t c, int* d) {
  *d = c->dev;
  return ncclSuccess;
}
API ncclResult_t ncclCommUserRank(const ncclComm_t c, int* r) {
  *r = c->rank;
  return ncclSuccess;
}
API const char* ncclGetErrorString(ncclResult_t r) {
  switch (r) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error";
    case ncclSystemError:
      return "unhandled system error";
    case ncclInternalError:
      return "internal error";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclInvalidUsage:
      return "invalid usage";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    default:
      return "unknown result code";
  }
}
API const char* ncclGetLastError(ncclComm_t) {
  return t_error.c_str();
}

// ================================================================= groups and collectives
API ncclResult_t ncclGroupStart() {
  ++t_depth;
  return ncclSuccess;
}
API ncclResult_t ncclGroupEnd() {
  if (!t_depth) return fail(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--t_depth) return ncclSuccess;
  std::vector<ncclComm*> joins = std::move(t_joins);
  std::vector<GroupItem> items = std::move(t_items);
  t_joins.clear();
  t_items.clear();
  for (ncclComm* c : joins)
    if (ncclResult_t r = waitJoined(c); r != ncclSuccess) return r;
  return runItems(items);
}
API ncclResult_t ncclAllReduce(const void* s, void* r, size_t n, ncclDataType_t t, ncclRedOp_t op, ncclComm_t c,
                               cudaStream_t st) {
  return ask(c, {ALLREDUCE, s, r, n, t, op, 0, st});
}
API ncclResult_t ncclBroadcast(const void* s, void* r, size_t n, ncclDataType_t t, int root, ncclComm_t c,
                               cudaStream_t st) {
  return ask(c, {BROADCAST, s, r, n, t, ncclSum, root, st});
}
API ncclResult_t ncclBcast(void* b, size_t n, ncclDataType_t t, int root, ncclComm_t c, cudaStream_t st) {
  return ncclBroadcast(b, b, n, t, root, c, st);
}
API ncclResult_t ncclReduce(const void* s, void* r, size_t n, ncclDataType_t t, ncclRedOp_t op, int root,
                            ncclComm_t c, cudaStream_t st) {
  return ask(c, {REDUCE, s, r, n, t, op, root, st});
}
API ncclResult_t ncclAllGather(const void* s, void* r, size_t n, ncclDataType_t t, ncclComm_t c, cudaStream_t st) {
  return ask(c, {ALLGATHER, s, r, n, t, ncclSum, 0, st});
}
API ncclResult_t ncclReduceScatter(const void* s, void* r, size_t n, ncclDataType_t t, ncclRedOp_t op, ncclComm_t c,
                                   cudaStream_t st) {
  return ask(c, {REDUCESCATTER, s, r, n, t, op, 0, st});
}
API ncclResult_t ncclSend(const void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return fail(ncclInvalidUsage, "ncclSend is not simulated");
}
API ncclResult_t ncclRecv(void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return fail(ncclInvalidUsage, "ncclRecv is not simulated");
}
