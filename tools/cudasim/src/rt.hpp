// Internals of the replacement CUDA runtime: context, devices, streams, events, graphs.
#pragma once
#include "ptx_ops.hpp"
#define __CUDA_RUNTIME_API_VERSION 13000
#include <chrono>
#include <cuda_runtime_api.h>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#undef cudaGetDeviceProperties
#define API extern "C" __attribute__((visibility("default")))

struct CUevent_st;
struct CUstream_st;
struct CUgraph_st;

namespace cudasim {

// One piece of work on a stream. RECORD and WAIT are the two ends of an event; the rest is WORK.
struct Op {
  enum Kind { WORK, RECORD, WAIT } kind = WORK;
  uint64_t seq = 0;  // global submission order
  std::string label;
  std::function<cudaError_t()> fn;
  std::shared_ptr<CUevent_st> event;
  uint64_t version = 0;
  int dev = 0;
};

// One stream capture in progress.
struct Capture {
  uint64_t id = 0;
  CUstream_st* origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  CUgraph_st* graph = nullptr;
  bool ownsGraph = true;
  bool valid = true;
  std::set<CUstream_st*> streams;
};
using Node = CUgraphNode_st;
}  // namespace cudasim

struct CUgraphNode_st {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::string label;
  std::function<cudaError_t()> fn;
  std::vector<CUgraphNode_st*> deps;
  int dev = 0;
  // kernel nodes
  cudasim::Func* func = nullptr;
  const void* hostFunc = nullptr;
  cudasim::LaunchCfg cfg;
  std::shared_ptr<std::vector<uint8_t>> args;
  std::vector<void*> argPtrs;
  // allocation nodes
  uintptr_t addr = 0;
  size_t bytes = 0;
};
struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};
struct CUgraphExec_st {
  std::vector<CUgraphNode_st> nodes;
  std::vector<std::vector<int>> deps;
  std::unordered_map<CUgraphNode_st*, int> index;  // node of the graph -> position
  unsigned long long flags = 0;
};
struct CUstream_st {
  int dev = 0;
  bool null = false, nonBlocking = false, dead = false;
  unsigned flags = 0;
  int priority = 0;
  uint64_t id = 0;
  std::deque<cudasim::Op> queue;
  std::shared_ptr<cudasim::Capture> cap;
  std::vector<CUgraphNode_st*> capDeps;
};
struct CUevent_st {
  int dev = 0;
  unsigned flags = 0;
  uint64_t version = 0;  // number of records so far
  uint64_t time = 0;     // when the last record completed
  // Version -> stream and seq of the record.
  std::map<uint64_t, std::pair<CUstream_st*, uint64_t>> pending;
  std::shared_ptr<cudasim::Capture> cap;  // last recorded in this capture
  std::vector<CUgraphNode_st*> capDeps;
};

namespace cudasim {
struct Fat {
  const void* data = nullptr;
  std::string text;             // the chosen PTX
  std::map<int, Module*> mods;  // device -> loaded module
};
struct KernelRef {
  Fat* fat;
  std::string name;
  std::map<int, Func*> f;
};
struct VarRef {
  Fat* fat;
  std::string name;
  size_t size;
  std::map<int, uintptr_t> addr;
};
struct Device {
  CUstream_st null;
  size_t used = 0;
};
struct Ctx {
  std::recursive_mutex mu;
  int ndev = 1, cc = 0, sms = 4;
  bool async = false, stats = false, quiet = false, trace = false, strictFree = false;
  long seed = -1;
  size_t total = 8ull << 30;
  std::mt19937 rng{1};
  cudaError_t sticky = cudaSuccess;
  std::vector<std::unique_ptr<Device>> devs;
  std::vector<Fat*> fats;
  std::unordered_map<const void*, KernelRef> kernels;
  std::unordered_map<const void*, VarRef> vars;
  std::vector<CUstream_st*> streams;  // every stream, null streams included
  std::map<cudaEvent_t, std::shared_ptr<CUevent_st>> events;
  std::set<cudaGraph_t> graphs;
  std::set<cudaGraphExec_t> execs;
  std::set<std::shared_ptr<Capture>> captures;
  uint64_t seq = 0, ids = 1;
};
Ctx& C();
extern thread_local int t_dev;           // current device
extern thread_local cudaError_t t_last;  // last error of this thread
extern thread_local bool t_inHostFn;     // inside a host function: no API call is allowed
extern thread_local cudaStreamCaptureMode t_capMode;

// ---- errors
cudaError_t ret(cudaError_t e);                    // stores and returns the error
cudaError_t bad(cudaError_t e, const char* what);  // the same, with a message
cudaError_t stick(const SimError& e);              // an error that ends the context

// Every entry point that touches the context starts with this.
#define LOCK                                         \
  std::lock_guard<std::recursive_mutex> lk_(C().mu); \
  if (auto e_ = enter(); e_ != cudaSuccess) return e_
cudaError_t enter();

// ---- memory
struct DevAccess {  // device memory is open to this process while one of these lives
  DevAccess();
  ~DevAccess();
};
bool inArena(const void* p);
const Range* rangeOf(const void* p);
uintptr_t devReserve(size_t n);                          // an address, not yet valid memory
void devMap(uintptr_t a, size_t n, int dev, bool pool);  // make it valid
void devFree(uintptr_t a);
cudaError_t checkCopy(const void* d, const void* s, size_t n, cudaMemcpyKind k);
void reportLeaks();

// ---- modules and launches
Func* kernelOf(const void* h, int dev);
VarRef* varOf(const void* h, int dev);
struct Prepared {
  Func* f = nullptr;
  LaunchCfg cfg;
  std::shared_ptr<std::vector<uint8_t>> args;
};
// Of one kernel at a time.
int blocksPerMultiprocessor(const Func* f, int threads, size_t dynShared);
cudaError_t prepare(Func* f, dim3 g, dim3 b, void** args, size_t sh, bool coop, Prepared& out);
cudaError_t runKernel(const Prepared& p, int dev);
uint64_t clockNs();

// ---- streams
CUstream_st* streamOf(cudaStream_t s);  // nullptr: not a stream
cudaError_t submit(CUstream_st* s, Op op, cudaGraphNodeType type = cudaGraphNodeTypeEmpty,
                   Node* fill = nullptr);
void runUpTo(CUstream_st* s, uint64_t seq);
void syncStream(CUstream_st* s);
void syncDevice(int dev);
void stepSome(CUstream_st* s);  // a little progress, for the query calls
void dropAllWork();

// ---- capture
void invalidate(Capture& c);
cudaError_t unsafeCall(const char* what);  // a call that capture modes forbid
bool anyCapture();
CUgraph_st* newGraph();
Node* addNode(CUgraph_st* g, cudaGraphNodeType type, const std::string& label,
              std::vector<Node*> deps);
}  // namespace cudasim
