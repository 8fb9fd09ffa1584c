// Stream capture and graphs.
#include "rt.hpp"

using namespace cudasim;

namespace cudasim {
void invalidate(Capture& c) {
  c.valid = false;
}
bool anyCapture() {
  for (auto& k : C().captures)
    if (k->valid) return true;
  return false;
}
// Calls that are "potentially unsafe" during capture; see cudaThreadExchangeStreamCaptureMode.
cudaError_t unsafeCall(const char* what) {
  if (t_capMode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  for (auto& k : C().captures) {
    bool mine = k->thread == std::this_thread::get_id();
    bool hit =
        mine ? k->mode != cudaStreamCaptureModeRelaxed
             : t_capMode == cudaStreamCaptureModeGlobal && k->mode == cudaStreamCaptureModeGlobal;
    if (!hit || !k->valid) continue;
    invalidate(*k);
    std::string m = std::string(what) + " during stream capture";
    return bad(cudaErrorStreamCaptureUnsupported, m.c_str());
  }
  return cudaSuccess;
}
CUgraph_st* newGraph() {
  CUgraph_st* g = new CUgraph_st;
  C().graphs.insert(g);
  return g;
}
Node* addNode(CUgraph_st* g, cudaGraphNodeType type, const std::string& label,
              std::vector<Node*> deps) {
  auto n = std::make_unique<Node>();
  n->type = type;
  n->label = label;
  n->deps = std::move(deps);
  g->nodes.push_back(std::move(n));
  return g->nodes.back().get();
}
static bool isGraph(cudaGraph_t g) {
  return C().graphs.count(g) > 0;
}
static int position(const CUgraph_st* g, const Node* n) {
  for (size_t k = 0; k < g->nodes.size(); ++k)
    if (g->nodes[k].get() == n) return (int)k;
  return -1;
}
static Prepared preparedOf(const Node& n) {
  Prepared p;
  p.f = n.func;
  p.cfg = n.cfg;
  p.args = n.args;
  return p;
}
// Runs every node of an executable graph, in an order that its edges allow: node order by default,
// the reverse preference with CUDASIM_ASYNC=1, a random choice with CUDASIM_SEED as well.
static cudaError_t runGraph(const std::vector<Node>& nodes,
                            const std::vector<std::vector<int>>& deps) {
  size_t n = nodes.size();
  std::vector<int> left(n);
  std::vector<std::vector<int>> next(n);
  std::vector<int> ready;
  for (size_t k = 0; k < n; ++k) {
    left[k] = (int)deps[k].size();
    for (int d : deps[k])
      next[d].push_back((int)k);
    if (!left[k]) ready.push_back((int)k);
  }
  size_t done = 0;
  while (!ready.empty()) {
    auto it = std::min_element(ready.begin(), ready.end());
    if (C().async) it = std::max_element(ready.begin(), ready.end());
    if (C().async && C().seed >= 0) it = ready.begin() + C().rng() % ready.size();
    int k = *it;
    ready.erase(it);
    const Node& nd = nodes[k];
    if (C().trace) std::fprintf(stderr, "[cudasim]   node %d %s\n", k, nd.label.c_str());
    cudaError_t e = cudaSuccess;
    int cur = t_dev;
    t_dev = nd.dev;
    if (nd.func)
      e = runKernel(preparedOf(nd), nd.dev);
    else if (nd.fn)
      e = nd.fn();
    t_dev = cur;
    if (e != cudaSuccess) return e;
    ++done;
    for (int m : next[k])
      if (--left[m] == 0) ready.push_back(m);
  }
  return done == n ? cudaSuccess : cudaErrorInvalidValue;
}
}  // namespace cudasim

// ================================================================= capture
#define STREAM(var, handle, what)      \
  CUstream_st* var = streamOf(handle); \
  if (!var) return bad(cudaErrorInvalidResourceHandle, what ": not a stream")
#define GRAPH(g, what) \
  if (!isGraph(g)) return bad(cudaErrorInvalidValue, what ": not a graph")

static cudaError_t begin(CUstream_st* s, cudaStreamCaptureMode mode, CUgraph_st* into,
                         std::vector<Node*> deps) {
  if (s->null)
    return bad(cudaErrorStreamCaptureUnsupported, "the legacy default stream cannot be captured");
  if (s->cap) {
    return bad(cudaErrorIllegalState,
               "cudaStreamBeginCapture: the stream is already being captured");
  }
  auto c = std::make_shared<Capture>();
  c->id = C().ids++;
  c->origin = s;
  c->mode = mode;
  c->thread = std::this_thread::get_id();
  c->graph = into ? into : newGraph();
  c->ownsGraph = !into;
  c->streams.insert(s);
  C().captures.insert(c);
  s->cap = c;
  s->capDeps = std::move(deps);
  return cudaSuccess;
}
API cudaError_t cudaStreamBeginCapture(cudaStream_t h, cudaStreamCaptureMode mode) {
  LOCK;
  STREAM(s, h, "cudaStreamBeginCapture");
  return begin(s, mode, nullptr, {});
}
API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t h, cudaGraph_t g,
                                              const cudaGraphNode_t* d, const cudaGraphEdgeData*,
                                              size_t n, cudaStreamCaptureMode mode) {
  LOCK;
  STREAM(s, h, "cudaStreamBeginCaptureToGraph");
  GRAPH(g, "cudaStreamBeginCaptureToGraph");
  return begin(s, mode, g, std::vector<Node*>(d, d + n));
}
API cudaError_t cudaStreamEndCapture(cudaStream_t h, cudaGraph_t* out) {
  LOCK;
  STREAM(s, h, "cudaStreamEndCapture");
  if (!out) return bad(cudaErrorInvalidValue, "cudaStreamEndCapture");
  *out = nullptr;
  std::shared_ptr<Capture> c = s->cap;
  if (!c)
    return bad(cudaErrorIllegalState, "cudaStreamEndCapture: the stream is not being captured");
  if (c->mode != cudaStreamCaptureModeRelaxed && c->thread != std::this_thread::get_id())
    return bad(cudaErrorStreamCaptureWrongThread, "cudaStreamEndCapture");
  if (c->origin != s) {
    invalidate(*c);
    return bad(cudaErrorStreamCaptureUnmatched,
               "cudaStreamEndCapture: the capture did not begin on this stream");
  }
  std::vector<Node*> todo = s->capDeps;
  for (CUstream_st* o : c->streams) {
    o->cap.reset();
    if (o != s) continue;
  }
  C().captures.erase(c);
  cudaError_t r = cudaSuccess;
  if (!c->valid) {
    r = bad(cudaErrorStreamCaptureInvalidated,
            "cudaStreamEndCapture: an earlier call made the capture invalid");
  } else {
    std::set<Node*> seen;
    while (!todo.empty()) {
      Node* n = todo.back();
      todo.pop_back();
      if (seen.insert(n).second) todo.insert(todo.end(), n->deps.begin(), n->deps.end());
    }
    for (CUstream_st* o : c->streams)
      for (Node* n : o->capDeps)
        if (!seen.count(n)) r = cudaErrorStreamCaptureUnjoined;
    if (r != cudaSuccess) bad(r, "cudaStreamEndCapture: a forked stream was not joined");
  }
  for (CUstream_st* o : c->streams)
    o->capDeps.clear();
  if (r == cudaSuccess) {
    *out = c->graph;
  } else if (c->ownsGraph) {
    C().graphs.erase(c->graph);
    delete c->graph;
  }
  return r;
}
API cudaError_t cudaStreamIsCapturing(cudaStream_t h, cudaStreamCaptureStatus* st) {
  LOCK;
  STREAM(s, h, "cudaStreamIsCapturing");
  if (s->null && anyCapture())
    for (auto& k : C().captures)
      for (CUstream_st* o : k->streams)
        if (!o->nonBlocking && o->dev == s->dev)
          return bad(cudaErrorStreamCaptureImplicit, "cudaStreamIsCapturing");
  *st = !s->cap         ? cudaStreamCaptureStatusNone
        : s->cap->valid ? cudaStreamCaptureStatusActive
                        : cudaStreamCaptureStatusInvalidated;
  return cudaSuccess;
}
API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t h, cudaStreamCaptureStatus* st,
                                         unsigned long long* id, cudaGraph_t* g,
                                         const cudaGraphNode_t** deps,
                                         const cudaGraphEdgeData** edges, size_t* n) {
  LOCK;
  STREAM(s, h, "cudaStreamGetCaptureInfo");
  bool on = s->cap && s->cap->valid;
  *st = !s->cap ? cudaStreamCaptureStatusNone
        : on    ? cudaStreamCaptureStatusActive
                : cudaStreamCaptureStatusInvalidated;
  if (id) *id = on ? s->cap->id : 0;
  if (g) *g = on ? s->cap->graph : nullptr;
  if (deps) *deps = on ? s->capDeps.data() : nullptr;
  if (edges) *edges = nullptr;
  if (n) *n = on ? s->capDeps.size() : 0;
  return cudaSuccess;
}
API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t h, cudaGraphNode_t* d,
                                                    const cudaGraphEdgeData*, size_t n,
                                                    unsigned flags) {
  LOCK;
  STREAM(s, h, "cudaStreamUpdateCaptureDependencies");
  if (!s->cap) return bad(cudaErrorIllegalState, "cudaStreamUpdateCaptureDependencies");
  if (flags == cudaStreamSetCaptureDependencies) s->capDeps.clear();
  s->capDeps.insert(s->capDeps.end(), d, d + n);
  return cudaSuccess;
}
API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* m) {
  std::swap(*m, t_capMode);
  return cudaSuccess;
}

// ================================================================= building graphs by hand
API cudaError_t cudaGraphCreate(cudaGraph_t* g, unsigned) {
  LOCK;
  *g = newGraph();
  return cudaSuccess;
}
API cudaError_t cudaGraphDestroy(cudaGraph_t g) {
  LOCK;
  GRAPH(g, "cudaGraphDestroy");
  C().graphs.erase(g);
  delete g;
  return cudaSuccess;
}
API cudaError_t cudaGraphClone(cudaGraph_t* out, cudaGraph_t g) {
  LOCK;
  GRAPH(g, "cudaGraphClone");
  *out = newGraph();
  for (auto& n : g->nodes) {
    Node* m = addNode(*out, n->type, n->label, {});
    *m = *n;
    for (Node*& d : m->deps)
      d = (*out)->nodes[position(g, d)].get();
  }
  return cudaSuccess;
}
static std::vector<Node*> depList(const cudaGraphNode_t* d, size_t n) {
  return std::vector<Node*>(d, d + n);
}
static cudaError_t setKernel(Node* n, const cudaKernelNodeParams* p) {
  Prepared q;
  Func* f = kernelOf(p->func, t_dev);
  if (!p->kernelParams && f && !f->params.empty())
    return bad(cudaErrorNotSupported, "kernel node without kernelParams");
  if (auto e = prepare(f, p->gridDim, p->blockDim, p->kernelParams, p->sharedMemBytes, false, q);
      e != cudaSuccess)
    return e;
  n->dev = t_dev;
  n->func = q.f;
  n->hostFunc = p->func;
  n->cfg = q.cfg;
  n->args = q.args;
  n->label = q.f->name;
  return cudaSuccess;
}
API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t g,
                                       const cudaGraphNode_t* d, size_t n,
                                       const cudaKernelNodeParams* p) {
  LOCK;
  GRAPH(g, "cudaGraphAddKernelNode");
  Node tmp;
  if (auto e = setKernel(&tmp, p); e != cudaSuccess) return e;
  *out = addNode(g, cudaGraphNodeTypeKernel, tmp.label, {});
  **out = tmp;
  (*out)->type = cudaGraphNodeTypeKernel;
  (*out)->deps = depList(d, n);
  return cudaSuccess;
}
API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t n, const cudaKernelNodeParams* p) {
  LOCK;
  return setKernel(n, p);
}
API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t n, cudaKernelNodeParams* p) {
  LOCK;
  if (!n->func)
    return bad(cudaErrorInvalidValue, "cudaGraphKernelNodeGetParams: not a kernel launch");
  n->argPtrs.clear();
  for (auto& fp : n->func->params)
    n->argPtrs.push_back(n->args->data() + fp.off);
  *p = cudaKernelNodeParams{};
  p->func = const_cast<void*>(n->hostFunc);
  p->gridDim = dim3(n->cfg.grid[0], n->cfg.grid[1], n->cfg.grid[2]);
  p->blockDim = dim3(n->cfg.block[0], n->cfg.block[1], n->cfg.block[2]);
  p->sharedMemBytes = n->cfg.dyn;
  p->kernelParams = n->argPtrs.data();
  return cudaSuccess;
}
API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n,
                                                 const cudaKernelNodeParams* p) {
  LOCK;
  if (!C().execs.count(x) || !x->index.count(n))
    return bad(cudaErrorInvalidValue, "cudaGraphExecKernelNodeSetParams");
  return setKernel(&x->nodes[x->index[n]], p);
}
static cudaError_t addWork(cudaGraphNode_t* out, cudaGraph_t g, cudaGraphNodeType type,
                           const char* label, std::vector<Node*> deps,
                           std::function<cudaError_t()> fn) {
  *out = addNode(g, type, label, std::move(deps));
  (*out)->dev = t_dev;
  (*out)->fn = std::move(fn);
  return cudaSuccess;
}
API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t g,
                                         const cudaGraphNode_t* d, size_t nd, void* dst,
                                         const void* src, size_t n, cudaMemcpyKind k) {
  LOCK;
  GRAPH(g, "cudaGraphAddMemcpyNode1D");
  if (auto e = checkCopy(dst, src, n, k); e != cudaSuccess) return e;
  return addWork(out, g, cudaGraphNodeTypeMemcpy, "memcpy", depList(d, nd), [=] {
    if (auto e = checkCopy(dst, src, n, k); e != cudaSuccess) return e;
    DevAccess da;
    std::memmove(dst, src, n);
    return cudaSuccess;
  });
}
API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t g,
                                       const cudaGraphNode_t* d, size_t nd,
                                       const cudaMemsetParams* p) {
  LOCK;
  GRAPH(g, "cudaGraphAddMemsetNode");
  cudaMemsetParams q = *p;
  size_t bytes = (q.height > 1 ? (q.height - 1) * q.pitch : 0) + q.width * q.elementSize;
  const Range* r = rangeOf(q.dst);
  if (!r || (uintptr_t)q.dst + bytes > r->hi)
    return bad(cudaErrorInvalidValue, "cudaGraphAddMemsetNode: range");
  return addWork(out, g, cudaGraphNodeTypeMemset, "memset", depList(d, nd), [q] {
    DevAccess da;
    for (size_t y = 0; y < std::max<size_t>(q.height, 1); ++y)
      for (size_t x = 0; x < q.width; ++x)
        std::memcpy((char*)q.dst + y * q.pitch + x * q.elementSize, &q.value, q.elementSize);
    return cudaSuccess;
  });
}
API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* out, cudaGraph_t g, const cudaGraphNode_t* d,
                                     size_t nd, const cudaHostNodeParams* p) {
  LOCK;
  GRAPH(g, "cudaGraphAddHostNode");
  cudaHostNodeParams q = *p;
  return addWork(out, g, cudaGraphNodeTypeHost, "host function", depList(d, nd), [q] {
    t_inHostFn = true;
    q.fn(q.userData);
    t_inHostFn = false;
    return cudaSuccess;
  });
}
API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* out, cudaGraph_t g, const cudaGraphNode_t* d,
                                      size_t nd) {
  LOCK;
  GRAPH(g, "cudaGraphAddEmptyNode");
  *out = addNode(g, cudaGraphNodeTypeEmpty, "empty", depList(d, nd));
  return cudaSuccess;
}
API cudaError_t cudaGraphAddDependencies(cudaGraph_t g, const cudaGraphNode_t* from,
                                         const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                         size_t n) {
  LOCK;
  GRAPH(g, "cudaGraphAddDependencies");
  for (size_t k = 0; k < n; ++k)
    to[k]->deps.push_back(from[k]);
  return cudaSuccess;
}

// ================================================================= inspecting graphs
static cudaError_t giveNodes(const std::vector<Node*>& v, cudaGraphNode_t* out, size_t* n) {
  if (out) {
    for (size_t k = 0; k < *n; ++k)
      out[k] = k < v.size() ? v[k] : nullptr;
    *n = std::min(*n, v.size());
  } else {
    *n = v.size();
  }
  return cudaSuccess;
}
API cudaError_t cudaGraphGetNodes(cudaGraph_t g, cudaGraphNode_t* out, size_t* n) {
  LOCK;
  GRAPH(g, "cudaGraphGetNodes");
  std::vector<Node*> v;
  for (auto& x : g->nodes)
    v.push_back(x.get());
  return giveNodes(v, out, n);
}
API cudaError_t cudaGraphGetRootNodes(cudaGraph_t g, cudaGraphNode_t* out, size_t* n) {
  LOCK;
  GRAPH(g, "cudaGraphGetRootNodes");
  std::vector<Node*> v;
  for (auto& x : g->nodes)
    if (x->deps.empty()) v.push_back(x.get());
  return giveNodes(v, out, n);
}
API cudaError_t cudaGraphGetEdges(cudaGraph_t g, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                  cudaGraphEdgeData* ed, size_t* n) {
  LOCK;
  GRAPH(g, "cudaGraphGetEdges");
  std::vector<Node*> a, b;
  for (auto& x : g->nodes)
    for (Node* d : x->deps) {
      a.push_back(d);
      b.push_back(x.get());
    }
  if (ed) std::memset(ed, 0, *n * sizeof *ed);
  size_t m = *n;
  giveNodes(a, from, n);
  return giveNodes(b, to, &m);
}
API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t n, cudaGraphNodeType* t) {
  LOCK;
  *t = n->type;
  return cudaSuccess;
}
API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t x, cudaGraphNode_t* d,
                                             cudaGraphEdgeData*, size_t* n) {
  LOCK;
  return giveNodes(x->deps, d, n);
}
API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t g, const char* path, unsigned) {
  LOCK;
  GRAPH(g, "cudaGraphDebugDotPrint");
  FILE* f = std::fopen(path, "w");
  if (!f) return bad(cudaErrorOperatingSystem, "cudaGraphDebugDotPrint");
  std::fprintf(f, "digraph g {\n");
  for (size_t k = 0; k < g->nodes.size(); ++k) {
    std::fprintf(f, "  n%zu [label=\"%s\"];\n", k, g->nodes[k]->label.c_str());
    for (Node* d : g->nodes[k]->deps)
      std::fprintf(f, "  n%d -> n%zu;\n", position(g, d), k);
  }
  std::fprintf(f, "}\n");
  std::fclose(f);
  return cudaSuccess;
}

// ================================================================= executable graphs
static cudaError_t instantiate(cudaGraphExec_t* out, cudaGraph_t g, unsigned long long flags) {
  if (!out) return bad(cudaErrorInvalidValue, "cudaGraphInstantiate");
  *out = nullptr;
  GRAPH(g, "cudaGraphInstantiate");
  auto* x = new CUgraphExec_st;
  x->flags = flags;
  for (size_t k = 0; k < g->nodes.size(); ++k)
    x->index[g->nodes[k].get()] = (int)k;
  for (auto& n : g->nodes) {
    std::vector<int> d;
    for (Node* p : n->deps)
      d.push_back(x->index.at(p));
    x->nodes.push_back(*n);
    x->deps.push_back(d);
  }
  C().execs.insert(x);
  *out = x;
  return cudaSuccess;
}
API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* x, cudaGraph_t g, unsigned long long flags) {
  LOCK;
  return instantiate(x, g, flags);
}
API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* x, cudaGraph_t g,
                                              unsigned long long flags) {
  LOCK;
  return instantiate(x, g, flags);
}
API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* x, cudaGraph_t g,
                                               cudaGraphInstantiateParams* p) {
  LOCK;
  cudaError_t e = instantiate(x, g, p->flags);
  p->result_out = e == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
  return e;
}
API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t x, unsigned long long* f) {
  LOCK;
  *f = x->flags;
  return cudaSuccess;
}
API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t x) {
  LOCK;
  if (!C().execs.count(x))
    return bad(cudaErrorInvalidValue, "cudaGraphExecDestroy: not an executable graph");
  C().execs.erase(x);
  delete x;
  return cudaSuccess;
}
API cudaError_t cudaGraphUpload(cudaGraphExec_t x, cudaStream_t h) {
  LOCK;
  STREAM(s, h, "cudaGraphUpload");
  if (!C().execs.count(x))
    return bad(cudaErrorInvalidValue, "cudaGraphUpload: not an executable graph");
  return cudaSuccess;
}
API cudaError_t cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t h) {
  LOCK;
  STREAM(s, h, "cudaGraphLaunch");
  if (!C().execs.count(x))
    return bad(cudaErrorInvalidValue, "cudaGraphLaunch: not an executable graph");
  Op op;
  op.label = "graph launch";
  // The nodes are copied: a later update or destroy does not change a launch that was already made.
  auto nodes = std::make_shared<std::vector<Node>>(x->nodes);
  auto deps = std::make_shared<std::vector<std::vector<int>>>(x->deps);
  bool autoFree = x->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
  op.fn = [nodes, deps, autoFree] {
    for (const Node& n : *nodes) {
      if (n.type != cudaGraphNodeTypeMemAlloc || !g_ranges.count(n.addr)) continue;
      if (!autoFree)
        return bad(cudaErrorInvalidValue,
                   "cudaGraphLaunch: memory of the last launch was not freed");
      C().devs[n.dev]->used -= n.bytes;
      devFree(n.addr);
    }
    return runGraph(*nodes, *deps);
  };
  return submit(s, std::move(op), cudaGraphNodeTypeGraph);
}
API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t x, cudaGraph_t g,
                                    cudaGraphExecUpdateResultInfo* info) {
  LOCK;
  GRAPH(g, "cudaGraphExecUpdate");
  if (!C().execs.count(x))
    return bad(cudaErrorInvalidValue, "cudaGraphExecUpdate: not an executable graph");
  cudaGraphExecUpdateResultInfo dummy;
  if (!info) info = &dummy;
  std::memset(info, 0, sizeof *info);
  auto fail = [&](cudaGraphExecUpdateResult r, Node* n) {
    info->result = r;
    info->errorNode = n;
    return ret(cudaErrorGraphExecUpdateFailure);
  };
  if (g->nodes.size() != x->nodes.size())
    return fail(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
  std::vector<Node> fresh;
  for (size_t k = 0; k < g->nodes.size(); ++k) {
    Node* n = g->nodes[k].get();
    const Node& o = x->nodes[k];
    if (n->type != o.type) return fail(cudaGraphExecUpdateErrorNodeTypeChanged, n);
    if (n->deps.size() != x->deps[k].size())
      return fail(cudaGraphExecUpdateErrorTopologyChanged, n);
    for (size_t j = 0; j < n->deps.size(); ++j)
      if (position(g, n->deps[j]) != x->deps[k][j])
        return fail(cudaGraphExecUpdateErrorTopologyChanged, n);
    bool mem = n->type == cudaGraphNodeTypeMemAlloc || n->type == cudaGraphNodeTypeMemFree;
    if (mem && n->addr != o.addr) return fail(cudaGraphExecUpdateErrorNotSupported, n);
    fresh.push_back(*n);
  }
  x->nodes = std::move(fresh);
  for (size_t k = 0; k < g->nodes.size(); ++k)
    x->index[g->nodes[k].get()] = (int)k;
  info->result = cudaGraphExecUpdateSuccess;
  return cudaSuccess;
}
API cudaError_t cudaDeviceGraphMemTrim(int) {
  return cudaSuccess;
}
API cudaError_t cudaDeviceGetGraphMemAttribute(int, cudaGraphMemAttributeType, void* v) {
  std::memset(v, 0, 8);
  return cudaSuccess;
}
