// Streams, events, host functions, and the queue that runs work late (CUDASIM_ASYNC=1).
#include "rt.hpp"

using namespace cudasim;

namespace cudasim {
// ================================================================= queue
CUstream_st* streamOf(cudaStream_t s) {
  Ctx& c = C();
  if (s == nullptr || s == cudaStreamLegacy) return &c.devs[t_dev]->null;
  if (s == cudaStreamPerThread) {
    thread_local std::map<int, CUstream_st*> mine;
    CUstream_st*& p = mine[t_dev];
    if (!p) {
      p = new CUstream_st;
      p->dev = t_dev;
      p->id = c.ids++;
      c.streams.push_back(p);
    }
    return p;
  }
  for (CUstream_st* x : c.streams)
    if (x == s && !x->dead) return x;
  return nullptr;
}
void dropAllWork() {
  for (CUstream_st* s : C().streams)
    s->queue.clear();
  for (auto& e : C().events)
    e.second->pending.clear();
}
static void reap() {  // destroyed streams are removed when their work is done
  auto& v = C().streams;
  for (size_t k = v.size(); k-- > 0;)
    if (v[k]->dead && v[k]->queue.empty()) {
      delete v[k];
      v.erase(v.begin() + k);
    }
}
// Runs one operation. An error of queued work ends the context; an error of immediate work is only
// returned.
static cudaError_t finish(Op& op, bool late) {
  if (op.kind == Op::RECORD) {
    op.event->pending.erase(op.version);
    if (op.version == op.event->version) op.event->time = clockNs();
  }
  if (op.kind != Op::WORK) return cudaSuccess;
  int cur = t_dev;
  t_dev = op.dev;
  if (C().trace)
    std::fprintf(stderr, "[cudasim] run #%llu %s\n", (unsigned long long)op.seq, op.label.c_str());
  cudaError_t e = op.fn();
  t_dev = cur;
  if (e != cudaSuccess && late && C().sticky == cudaSuccess) {
    std::fprintf(stderr, "[cudasim] *** %s failed when it ran: %s\n", op.label.c_str(),
                 cudaGetErrorName(e));
    C().sticky = e;
    dropAllWork();
  }
  return ret(e);
}
static void runHead(CUstream_st* s) {
  Op op = std::move(s->queue.front());
  s->queue.pop_front();
  finish(op, true);
}
// Returns whether the head of this stream may run now. The legacy default stream and the blocking
// streams wait for each other.
static bool ready(CUstream_st* s) {
  if (s->queue.empty()) return false;
  const Op& op = s->queue.front();
  if (op.kind == Op::WAIT && op.event->pending.count(op.version)) return false;
  if (s->nonBlocking) return true;
  for (CUstream_st* o : C().streams) {
    if (o == s || o->dev != s->dev || o->nonBlocking || o->queue.empty()) continue;
    if ((s->null || o->null) && o->queue.front().seq < op.seq) return false;
  }
  return true;
}
// Runs what the head of s depends on, and nothing else.
static void satisfy(CUstream_st* s) {
  uint64_t seq = s->queue.front().seq;
  if (s->queue.front().kind == Op::WAIT) {
    std::shared_ptr<CUevent_st> ev = s->queue.front().event;
    auto it = ev->pending.find(s->queue.front().version);
    if (it != ev->pending.end()) runUpTo(it->second.first, it->second.second);
  }
  if (s->nonBlocking) return;
  std::vector<CUstream_st*> all = C().streams;
  for (CUstream_st* o : all)
    if (o != s && o->dev == s->dev && !o->nonBlocking && (s->null || o->null)) runUpTo(o, seq - 1);
}
void runUpTo(CUstream_st* s, uint64_t seq) {
  while (!s->queue.empty() && s->queue.front().seq <= seq) {
    uint64_t head = s->queue.front().seq;
    satisfy(s);
    if (!s->queue.empty() && s->queue.front().seq == head) runHead(s);
  }
}
// Runs the head of one ready stream: a random one with a seed, else the one that was submitted
// last.
static bool step(int dev) {
  CUstream_st* pick = nullptr;
  int n = 0;
  for (CUstream_st* s : C().streams) {
    if ((dev >= 0 && s->dev != dev && C().seed < 0) || !ready(s)) continue;
    ++n;
    if (C().seed >= 0 ? C().rng() % n == 0
                      : !pick || s->queue.front().seq > pick->queue.front().seq)
      pick = s;
  }
  if (!pick) return false;
  runHead(pick);
  return true;
}
void syncStream(CUstream_st* s) {
  if (s->null) {  // waiting for the legacy stream waits for the blocking streams too
    for (CUstream_st* o : std::vector<CUstream_st*>(C().streams))
      if (o != s && o->dev == s->dev && !o->nonBlocking && !o->queue.empty())
        runUpTo(o, o->queue.back().seq);
  }
  if (s->queue.empty()) return;
  uint64_t last = s->queue.back().seq;
  if (C().seed >= 0)
    while (!s->queue.empty() && s->queue.front().seq <= last && step(-1)) {
    }
  runUpTo(s, last);
}
void syncDevice(int dev) {
  auto busy = [&] {
    for (CUstream_st* s : C().streams)
      if (s->dev == dev && !s->queue.empty()) return s;
    return (CUstream_st*)nullptr;
  };
  while (CUstream_st* s = busy())
    if (!step(dev)) runUpTo(s, s->queue.front().seq);  // the head waits for another device
  reap();
}
void stepSome(CUstream_st* s) {
  if (C().seed >= 0)
    step(-1);
  else if (!s->queue.empty())
    runUpTo(s, s->queue.front().seq);
}

// Every piece of stream work goes through here: into a graph, into the queue, or it runs
// immediately.
cudaError_t submit(CUstream_st* s, Op op, cudaGraphNodeType type, Node* fill) {
  Ctx& c = C();
  op.dev = s->dev;
  if (s->cap) {
    if (!s->cap->valid)
      return bad(cudaErrorStreamCaptureInvalidated, "work on a stream whose capture is invalid");
    Node* n = addNode(s->cap->graph, type, op.label, s->capDeps);
    n->dev = s->dev;
    n->fn = std::move(op.fn);
    if (fill) {
      n->func = fill->func;
      n->hostFunc = fill->hostFunc;
      n->cfg = fill->cfg;
      n->args = fill->args;
      n->addr = fill->addr;
      n->bytes = fill->bytes;
    }
    s->capDeps = {n};
    return cudaSuccess;
  }
  if (s->null)
    for (auto& k : c.captures)
      for (CUstream_st* o : k->streams)
        if (o->dev == s->dev && !o->nonBlocking && k->valid) {
          invalidate(*k);
          return bad(cudaErrorStreamCaptureImplicit,
                     "work on the legacy default stream while a blocking stream is being captured");
        }
  op.seq = ++c.seq;
  if (!c.async) return finish(op, false);
  if (op.kind == Op::RECORD) op.event->pending[op.version] = {s, op.seq};
  s->queue.push_back(std::move(op));
  if (c.seed >= 0)
    while (c.rng() % 4 == 0 && step(-1)) {
    }
  return c.sticky;
}
}  // namespace cudasim

// ================================================================= streams
static cudaError_t makeStream(cudaStream_t* s, unsigned flags, int prio) {
  LOCK;
  if (!s || (flags & ~1u)) return bad(cudaErrorInvalidValue, "cudaStreamCreate");
  CUstream_st* n = new CUstream_st;
  n->dev = t_dev;
  n->nonBlocking = flags & cudaStreamNonBlocking;
  n->flags = flags;
  n->priority = prio;
  n->id = C().ids++;
  C().streams.push_back(n);
  *s = n;
  return cudaSuccess;
}
API cudaError_t cudaStreamCreate(cudaStream_t* s) {
  return makeStream(s, 0, 0);
}
API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned f) {
  return makeStream(s, f, 0);
}
API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* s, unsigned f, int p) {
  return makeStream(s, f, p);
}

#define STREAM(var, handle, what)      \
  CUstream_st* var = streamOf(handle); \
  if (!var) return bad(cudaErrorInvalidResourceHandle, what ": not a stream")

API cudaError_t cudaStreamDestroy(cudaStream_t h) {
  LOCK;
  if (!h || h == cudaStreamLegacy || h == cudaStreamPerThread)
    return bad(cudaErrorInvalidResourceHandle, "cudaStreamDestroy of a built-in stream");
  STREAM(s, h, "cudaStreamDestroy");
  if (s->cap) {
    invalidate(*s->cap);
    s->cap->streams.erase(s);
    if (s->cap->origin == s) {
      C().captures.erase(s->cap);
      for (CUstream_st* o : s->cap->streams)
        o->cap.reset();
    }
    s->cap.reset();
  }
  s->dead = true;
  reap();
  return cudaSuccess;
}
API cudaError_t cudaStreamSynchronize(cudaStream_t h) {
  LOCK;
  STREAM(s, h, "cudaStreamSynchronize");
  if (s->cap) {
    invalidate(*s->cap);
    return bad(cudaErrorStreamCaptureUnsupported, "cudaStreamSynchronize on a capturing stream");
  }
  if (s->null && anyCapture())
    if (auto e = unsafeCall("cudaStreamSynchronize of the legacy stream"); e != cudaSuccess)
      return e;
  syncStream(s);
  return C().sticky;
}
API cudaError_t cudaStreamQuery(cudaStream_t h) {
  LOCK;
  STREAM(s, h, "cudaStreamQuery");
  if (s->cap) {
    invalidate(*s->cap);
    return bad(cudaErrorStreamCaptureUnsupported, "cudaStreamQuery on a capturing stream");
  }
  if (s->queue.empty()) return cudaSuccess;
  stepSome(s);
  if (C().sticky != cudaSuccess) return ret(C().sticky);
  return s->queue.empty() ? cudaSuccess : cudaErrorNotReady;
}
API cudaError_t cudaDeviceSynchronize() {
  LOCK;
  for (auto& k : C().captures)
    for (CUstream_st* o : k->streams)
      if (o->dev == t_dev && k->valid) {
        invalidate(*k);
        return bad(cudaErrorStreamCaptureUnsupported,
                   "cudaDeviceSynchronize during stream capture");
      }
  syncDevice(t_dev);
  return C().sticky;
}
#define GETTER(NAME, T, MEMBER)                    \
  API cudaError_t NAME(cudaStream_t h, T* value) { \
    LOCK;                                          \
    STREAM(s, h, #NAME);                           \
    *value = s->MEMBER;                            \
    return cudaSuccess;                            \
  }
GETTER(cudaStreamGetFlags, unsigned, flags)
GETTER(cudaStreamGetPriority, int, priority)
GETTER(cudaStreamGetId, unsigned long long, id)
GETTER(cudaStreamGetDevice, int, dev)
#undef GETTER
API cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t, unsigned) {
  return cudaSuccess;
}
API cudaError_t cudaStreamCopyAttributes(cudaStream_t, cudaStream_t) {
  return cudaSuccess;
}
API cudaError_t cudaLaunchHostFunc(cudaStream_t h, cudaHostFn_t f, void* u) {
  LOCK;
  STREAM(s, h, "cudaLaunchHostFunc");
  Op op;
  op.label = "host function";
  op.fn = [f, u] {
    t_inHostFn = true;
    f(u);
    t_inHostFn = false;
    return cudaSuccess;
  };
  return submit(s, std::move(op), cudaGraphNodeTypeHost);
}
API cudaError_t cudaStreamAddCallback(cudaStream_t h, cudaStreamCallback_t f, void* u, unsigned) {
  LOCK;
  STREAM(s, h, "cudaStreamAddCallback");
  if (s->cap) {
    invalidate(*s->cap);
    return bad(cudaErrorStreamCaptureUnsupported, "cudaStreamAddCallback on a capturing stream");
  }
  Op op;
  op.label = "callback";
  op.fn = [f, u, h] {
    t_inHostFn = true;
    f(h, cudaSuccess, u);
    t_inHostFn = false;
    return cudaSuccess;
  };
  return submit(s, std::move(op));
}

// ================================================================= events
static std::shared_ptr<CUevent_st> eventOf(cudaEvent_t e) {
  auto it = C().events.find(e);
  return it == C().events.end() ? nullptr : it->second;
}
#define EVENT(var, handle, what)                     \
  std::shared_ptr<CUevent_st> var = eventOf(handle); \
  if (!var) return bad(cudaErrorInvalidResourceHandle, what ": not an event")

API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned flags) {
  LOCK;
  if (!e) return bad(cudaErrorInvalidValue, "cudaEventCreate");
  auto p = std::make_shared<CUevent_st>();
  p->dev = t_dev;
  p->flags = flags;
  *e = p.get();
  C().events[*e] = p;
  return cudaSuccess;
}
API cudaError_t cudaEventCreate(cudaEvent_t* e) {
  return cudaEventCreateWithFlags(e, 0);
}
API cudaError_t cudaEventDestroy(cudaEvent_t h) {
  LOCK;
  EVENT(e, h, "cudaEventDestroy");
  C().events.erase(h);
  return cudaSuccess;
}
API cudaError_t cudaEventRecordWithFlags(cudaEvent_t h, cudaStream_t hs, unsigned flags) {
  LOCK;
  EVENT(e, h, "cudaEventRecord");
  STREAM(s, hs, "cudaEventRecord");
  if (e->dev != s->dev)
    return bad(cudaErrorInvalidResourceHandle,
               "cudaEventRecord: event and stream differ in device");
  if (s->cap && !(flags & cudaEventRecordExternal)) {
    if (!s->cap->valid) return bad(cudaErrorStreamCaptureInvalidated, "cudaEventRecord");
    e->cap = s->cap;
    e->capDeps = s->capDeps;
    return cudaSuccess;
  }
  Op op;
  op.label = "event record";
  op.event = e;
  if (s->cap) {  // external: a node that records when the graph runs
    op.fn = [e] {
      ++e->version;
      e->time = clockNs();
      return cudaSuccess;
    };
    return submit(s, std::move(op), cudaGraphNodeTypeEventRecord);
  }
  e->cap.reset();
  op.kind = Op::RECORD;
  op.version = ++e->version;
  return submit(s, std::move(op));
}
API cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  return cudaEventRecordWithFlags(e, s, 0);
}
API cudaError_t cudaStreamWaitEvent(cudaStream_t hs, cudaEvent_t h, unsigned flags) {
  LOCK;
  STREAM(s, hs, "cudaStreamWaitEvent");
  EVENT(e, h, "cudaStreamWaitEvent");
  std::shared_ptr<Capture> ec = e->cap;
  if (ec && !C().captures.count(ec)) {
    if (s->cap) invalidate(*s->cap);
    return bad(cudaErrorCapturedEvent,
               "cudaStreamWaitEvent: the event was last recorded in a capture that has ended");
  }
  if (ec) {
    if (!ec->valid) return bad(cudaErrorStreamCaptureInvalidated, "cudaStreamWaitEvent");
    if (s->cap && s->cap != ec) {
      invalidate(*s->cap);
      invalidate(*ec);
      return bad(cudaErrorStreamCaptureMerge, "cudaStreamWaitEvent would merge two captures");
    }
    if (s->null) {
      invalidate(*ec);
      return bad(cudaErrorStreamCaptureUnsupported,
                 "cudaStreamWaitEvent: the legacy stream cannot join a capture");
    }
    if (!s->cap) {
      s->cap = ec;
      s->capDeps.clear();
      ec->streams.insert(s);
    }
    for (Node* n : e->capDeps)
      if (std::find(s->capDeps.begin(), s->capDeps.end(), n) == s->capDeps.end())
        s->capDeps.push_back(n);
    return cudaSuccess;
  }
  if (s->cap) {
    if (!s->cap->valid) return bad(cudaErrorStreamCaptureInvalidated, "cudaStreamWaitEvent");
    if (flags & cudaEventWaitExternal) {
      Op op;
      op.label = "event wait";
      op.fn = [] {
        return cudaSuccess;
      };
      return submit(s, std::move(op), cudaGraphNodeTypeWaitEvent);
    }
    if (!e->version) return cudaSuccess;
    invalidate(*s->cap);
    return bad(cudaErrorStreamCaptureIsolation,
               "cudaStreamWaitEvent: a capturing stream waits for an event from outside");
  }
  if (!e->version) return cudaSuccess;
  Op op;
  op.label = "event wait";
  op.kind = Op::WAIT;
  op.event = e;
  op.version = e->version;
  return submit(s, std::move(op));
}
static cudaError_t capturedEvent(CUevent_st& e, const char* what) {
  if (e.cap) {
    if (e.cap->valid && C().captures.count(e.cap)) invalidate(*e.cap);
    return bad(cudaErrorCapturedEvent, what);
  }
  return unsafeCall(what);
}
API cudaError_t cudaEventSynchronize(cudaEvent_t h) {
  LOCK;
  EVENT(e, h, "cudaEventSynchronize");
  if (auto r = capturedEvent(*e, "cudaEventSynchronize"); r != cudaSuccess) return r;
  uint64_t v = e->version;
  if (C().seed >= 0)
    while (e->pending.count(v) && step(-1)) {
    }
  auto it = e->pending.find(v);
  if (it != e->pending.end()) runUpTo(it->second.first, it->second.second);
  return C().sticky;
}
API cudaError_t cudaEventQuery(cudaEvent_t h) {
  LOCK;
  EVENT(e, h, "cudaEventQuery");
  if (auto r = capturedEvent(*e, "cudaEventQuery"); r != cudaSuccess) return r;
  uint64_t v = e->version;
  auto it = e->pending.find(v);
  if (it == e->pending.end()) return cudaSuccess;
  stepSome(it->second.first);
  if (C().sticky != cudaSuccess) return ret(C().sticky);
  return e->pending.count(v) ? cudaErrorNotReady : cudaSuccess;
}
API cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t ha, cudaEvent_t hb) {
  LOCK;
  EVENT(a, ha, "cudaEventElapsedTime");
  EVENT(b, hb, "cudaEventElapsedTime");
  if (!a->version || !b->version || ((a->flags | b->flags) & cudaEventDisableTiming))
    return bad(cudaErrorInvalidResourceHandle,
               "cudaEventElapsedTime: event not recorded, or without timing");
  if (a->pending.count(a->version) || b->pending.count(b->version)) return ret(cudaErrorNotReady);
  *ms = (float)(((double)b->time - (double)a->time) * 1e-6);
  return cudaSuccess;
}
