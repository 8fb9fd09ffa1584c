// Replacement libnccl: collectives over the simulated devices of one process, one thread with
// groups or one thread per rank. A collective is ordered after the earlier work of every rank's
// stream and before its later work. Ranks may also be processes of one machine, each with one rank:
// then a collective is work on the stream of each, which meets the others when it runs.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>
#include <deque>
#include <fcntl.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nccl.h>
#include <set>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>
#define API extern "C" __attribute__((visibility("default")))
extern "C" int cudasim_submit(cudaStream_t, const char*, const std::function<int()>*, int);
extern "C" int cudasim_valid(const void*, size_t, int);

namespace {
enum Kind {
  ALLREDUCE,
  BROADCAST,
  REDUCE,
  ALLGATHER,
  REDUCESCATTER,
  SEND,
  RECV
};  // SEND, RECV: root is the other rank
const char* const kindName[] = {"ncclAllReduce",     "ncclBroadcast", "ncclReduce", "ncclAllGather",
                                "ncclReduceScatter", "ncclSend",      "ncclRecv"};

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
class Peers;
}  // namespace

struct ncclComm {
  std::shared_ptr<Clique> c;
  int rank, dev;
  std::shared_ptr<Peers> peers;  // null: all ranks are of this process
  std::string id;
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
void reduceAs(const std::vector<const void*>& in, size_t off, size_t n, ncclRedOp_t op,
              std::vector<char>& out) {
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
void reduceAny(const std::vector<const void*>& in, size_t off, size_t n, ncclDataType_t t,
               ncclRedOp_t op, std::vector<char>& out) {
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
  if (c.kind == RECV) return 0;
  if (c.kind == BROADCAST) return rank == c.root ? one : 0;
  return c.kind == REDUCESCATTER ? one * n : one;
}
size_t recvBytes(const Call& c, int n, int rank) {
  size_t one = c.count * sizeOf(c.type);
  if (c.kind == SEND) return 0;
  if (c.kind == REDUCE) return rank == c.root ? one : 0;
  return c.kind == ALLGATHER ? one * n : one;
}
bool buffersOk(const Call& c, int n, int rank, int dev) {
  for (int k = 0; k < 2; ++k) {
    const void* p = k ? c.recv : c.send;
    size_t b = k ? recvBytes(c, n, rank) : sendBytes(c, n, rank);
    if (cudasim_valid(p, b, dev)) continue;
    fail(ncclInvalidArgument, std::string(kindName[c.kind]) + ": rank " + std::to_string(rank) +
                                  ": the " + (k ? "receive" : "send") + " buffer needs " +
                                  std::to_string(b) + " bytes that are not all memory of device " +
                                  std::to_string(dev));
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
// ---- ranks in several processes
// One rank of a file of shared memory, which the unique id names. Data go through a slot for each
// rank, in parts. A rank holds a lock of the file as long as its process lives.
class Peers {
  static constexpr int mostRanks = 64;
  static constexpr size_t slotBytes = 1 << 20, boxBytes = 1 << 16;
  struct Meta {
    size_t count;
    int kind, type, op, root;
    bool operator==(const Meta&) const = default;
  };
  struct Header {  // zeros are its first state
    std::atomic<int> pid[mostRanks];
    std::atomic<uint64_t> written[mostRanks],
        read[mostRanks];  // parts that a rank has written, and has read of all
    Meta meta[mostRanks];
  };
  struct Box {  // of what one rank sends to another
    std::atomic<uint64_t> sent, taken;
    size_t total, bytes;  // of the message, of this part
    char data[boxBytes];
  };

 public:
  Peers(const std::string& id, int n, int rank) : path_("/dev/shm/" + id), n_(n), rank_(rank) {
    bytes_ = sizeof(Header) + n * slotBytes + (size_t)n * n * sizeof(Box);
    if (n > mostRanks) return;
    fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd_ < 0 || ftruncate(fd_, (off_t)bytes_) || !lock(F_OFD_SETLK, rank)) return;
    void* p = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (p == MAP_FAILED) return;
    head_ = (Header*)p;
    head_->pid[rank].store(getpid());
  }
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  ~Peers() {
    removeFile();  // the others have it open, or would not have come together
    if (head_) munmap(head_, bytes_);
    if (fd_ >= 0) close(fd_);
  }
  bool isOpen() const { return head_; }
  void removeFile() {
    if (!path_.empty()) unlink(path_.c_str());
    path_.clear();
  }
  // The number of ranks that have come, and whether one of them is of another process.
  int joined() const {
    int count = 0;
    for (int r = 0; r < n_; ++r)
      count += head_->pid[r].load() != 0;
    return count;
  }
  bool severalProcesses() const {
    for (int r = 0; r < n_; ++r)
      if (head_->pid[r].load() != getpid()) return true;
    return false;
  }
  bool oneRankEach() const {
    std::set<int> pids;
    for (int r = 0; r < n_; ++r)
      pids.insert(head_->pid[r].load());
    return (int)pids.size() == n_;
  }
  void abort() { aborted_ = true; }
  ncclResult_t error() const { return error_; }

  // Does the part of this rank in a collective. As the kernel of NCCL, it waits for ever for a rank
  // that has ended, until ncclCommAbort; or until the time limit.
  int perform(const Call& c) {
    const size_t size = sizeOf(c.type), most = slotBytes / size;
    const bool toAll = c.kind != REDUCE, sends = c.kind != BROADCAST || rank_ == c.root;
    std::vector<char> out;
    for (int part = 0; part < (c.kind == REDUCESCATTER ? n_ : 1); ++part)
      for (size_t first = 0; first < c.count || first == 0; first += most) {
        const size_t n = std::min(most, c.count - first);
        const char* const from = (const char*)c.send + (part * c.count + first) * size;
        if (!waitFor(head_->read, parts_, c)) return failure();
        head_->meta[rank_] = {c.count, c.kind, c.type, c.op, c.root};
        if (sends && n) std::memcpy(slot(rank_), from, n * size);
        head_->written[rank_].store(++parts_, std::memory_order_release);
        if (!waitFor(head_->written, parts_, c)) return failure();
        for (int r = 0; r < n_; ++r)
          if (!(head_->meta[r] == head_->meta[rank_])) {
            error_ = ncclInvalidUsage;
            fail(ncclInvalidUsage,
                 "ranks " + std::to_string(rank_) + " and " + std::to_string(r) + " disagree: " +
                     kindName[c.kind] + " of " + std::to_string(c.count) + " elements against " +
                     kindName[head_->meta[r].kind] + " of " + std::to_string(head_->meta[r].count));
            return cudaErrorLaunchFailure;
          }
        char* const to = (char*)c.recv + first * size;
        if (n == 0) {
        } else if (c.kind == BROADCAST) {
          std::memcpy(to, slot(c.root), n * size);
        } else if (c.kind == ALLGATHER) {
          for (int r = 0; r < n_; ++r)
            std::memcpy(to + r * c.count * size, slot(r), n * size);
        } else if (c.kind == REDUCESCATTER ? part == rank_ : toAll || rank_ == c.root) {
          std::vector<const void*> in;
          for (int r = 0; r < n_; ++r)
            in.push_back(slot(r));
          reduceAny(in, 0, n, c.type, c.op, out);
          std::memcpy(to, out.data(), n * size);
        }
        head_->read[rank_].store(parts_, std::memory_order_release);
      }
    return 0;
  }

  // Does the sends and receives of a group together.
  int exchange(const std::vector<Call>& calls) {
    std::vector<size_t> at(calls.size(), 0);
    std::vector<bool> done(calls.size(), false);
    bool fits = true;
    auto advance = [&](size_t k) {
      const Call& c = calls[k];
      const bool sends = c.kind == SEND;
      for (size_t j = 0; j < k; ++j)  // messages to one rank are in order
        if (!done[j] && calls[j].kind == c.kind && calls[j].root == c.root) return;
      Box& box = sends ? boxOf(rank_, c.root) : boxOf(c.root, rank_);
      const size_t total = c.count * sizeOf(c.type);
      if ((box.sent.load() == box.taken.load()) != sends) return;
      const size_t n = sends ? std::min(boxBytes, total - at[k]) : box.bytes;
      if (sends) {
        box.total = total;
        box.bytes = n;
        if (n) std::memcpy(box.data, (const char*)c.send + at[k], n);
        ++box.sent;
      } else if (box.total != total) {
        error_ = ncclInvalidUsage;
        fail(ncclInvalidUsage, "rank " + std::to_string(rank_) + " receives " +
                                   std::to_string(total) + " bytes of rank " +
                                   std::to_string(c.root) + ", which sends " +
                                   std::to_string(box.total));
        fits = false;
      } else {
        if (n) std::memcpy((char*)c.recv + at[k], box.data, n);
        ++box.taken;
      }
      at[k] += n;
      done[k] = at[k] == total;
    };
    // A rank is done when all messages with it are.
    const bool all = waitFor(
        [&](int r) {
          bool is = true;
          for (size_t k = 0; k < calls.size(); ++k) {
            if (!done[k] && fits) advance(k);
            is &= done[k] || calls[k].root != r || !fits;
          }
          return is;
        },
        "ncclSend and ncclRecv");
    return !fits ? cudaErrorLaunchFailure : all ? 0 : failure();
  }

 private:
  char* slot(int r) const { return (char*)head_ + sizeof(Header) + r * slotBytes; }
  Box& boxOf(int from, int to) const { return ((Box*)slot(n_))[from * n_ + to]; }
  bool lock(int command, int r) const {
    struct flock byte {};
    byte.l_type = F_WRLCK;
    byte.l_whence = SEEK_SET;
    byte.l_start = r;
    byte.l_len = 1;
    return fcntl(fd_, command, &byte) == 0 && (command == F_OFD_SETLK || byte.l_type != F_UNLCK);
  }
  bool lives(int r) const { return r == rank_ || lock(F_OFD_GETLK, r); }
  // Waits until each rank has done so many parts. Returns whether they have.
  bool waitFor(const std::atomic<uint64_t>* done, uint64_t parts, const Call& c) {
    return waitFor([&](int r) { return done[r].load(std::memory_order_acquire) >= parts; },
                   kindName[c.kind]);
  }
  template <class Done>
  bool waitFor(Done isDone, const char* what) {
    const auto end = std::chrono::steady_clock::now() + patience();
    for (unsigned polls = 1; !aborted_; ++polls) {
      int missing = 0;
      while (missing < n_ && isDone(missing))
        ++missing;
      if (missing == n_) return true;
      if (polls % 64) {
        std::this_thread::yield();
        continue;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      if (error_ == ncclSuccess && !lives(missing) && !isDone(missing)) {
        fail(ncclRemoteError, std::string(what) + ": rank " + std::to_string(rank_) +
                                  " waits for rank " + std::to_string(missing) +
                                  ", which has ended");
        error_ = ncclRemoteError;
      }
      if (std::chrono::steady_clock::now() > end) {
        if (error_ == ncclSuccess) error_ = ncclInternalError;
        fail(ncclInternalError, std::string(what) + ": rank " + std::to_string(rank_) +
                                    " timed out waiting for rank " + std::to_string(missing));
        return false;
      }
    }
    return false;
  }
  // After ncclCommAbort, what the collective should have written is undefined.
  int failure() const { return aborted_ ? cudaSuccess : cudaErrorLaunchTimeout; }

  std::string path_;
  int n_, rank_, fd_ = -1;
  size_t bytes_ = 0;
  Header* head_ = nullptr;
  uint64_t parts_ = 0;
  std::atomic<bool> aborted_{false};
  std::atomic<ncclResult_t> error_{ncclSuccess};
};

// Submits the sends and receives of a group to the stream of the first.
ncclResult_t launchMessages(ncclComm& comm, const std::vector<Call>& calls) {
  if (comm.peers->error() != ncclSuccess)
    return fail(comm.peers->error(), "the communicator has failed");
  std::function<int()> work = [peers = comm.peers, calls, n = comm.c->n, rank = comm.rank,
                               dev = comm.dev]() -> int {
    for (const Call& c : calls)
      if (!buffersOk(c, n, rank, dev)) return cudaErrorIllegalAddress;
    return peers->exchange(calls);
  };
  OnDevice d(comm.dev);
  const int e = cudasim_submit(calls[0].stream, "ncclSend and ncclRecv", &work, 0);
  return e ? fail(ncclUnhandledCudaError, cudaGetErrorString((cudaError_t)e)) : ncclSuccess;
}
// Submits a collective of several processes to the stream of this one.
ncclResult_t launchOwn(ncclComm& comm, const Call& c) {
  if (comm.peers->error() != ncclSuccess)
    return fail(comm.peers->error(), "the communicator has failed");
  std::function<int()> work = [peers = comm.peers, c, n = comm.c->n, rank = comm.rank,
                               dev = comm.dev]() -> int {
    return buffersOk(c, n, rank, dev) ? peers->perform(c) : cudaErrorIllegalAddress;
  };
  OnDevice d(comm.dev);
  const int e = cudasim_submit(c.stream, kindName[c.kind], &work, 0);
  return e ? fail(ncclUnhandledCudaError, cudaGetErrorString((cudaError_t)e)) : ncclSuccess;
}
// Submits a collective that every rank has called to the streams.
ncclResult_t launch(Clique& q, std::vector<std::shared_ptr<Call>> calls) {
  const int n = q.n;
  std::vector<Call> c;
  for (auto& p : calls)
    c.push_back(*p);
  for (int r = 1; r < n; ++r)
    if (c[r].kind != c[0].kind || c[r].count != c[0].count || c[r].type != c[0].type ||
        c[r].op != c[0].op || c[r].root != c[0].root)
      return fail(ncclInvalidUsage, "ranks 0 and " + std::to_string(r) +
                                        " disagree: " + kindName[c[0].kind] + " of " +
                                        std::to_string(c[0].count) + " elements against " +
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
    if (e == cudaSuccess)
      ok((cudaError_t)cudasim_submit(c[0].stream, kindName[c[0].kind], &work, 0));
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
  std::map<ncclComm*, std::vector<Call>> messages;
  for (GroupItem& it : items)
    if (it.call->kind == SEND || it.call->kind == RECV)
      messages[it.comm].push_back(*it.call);
    else if (it.comm->peers)
      if (ncclResult_t r = launchOwn(*it.comm, *it.call); r != ncclSuccess) return r;
  for (auto& [comm, calls] : messages)
    if (ncclResult_t r = launchMessages(*comm, calls); r != ncclSuccess) return r;
  std::erase_if(items, [](const GroupItem& it) { return it.comm->peers != nullptr; });
  std::unique_lock<std::mutex> lk(g_mu);
  for (GroupItem& it : items)
    it.comm->c->waiting[it.comm->rank].push_back(it.call);
  for (GroupItem& it : items)
    launchReady(*it.comm->c);
  ncclResult_t r = ncclSuccess;
  for (GroupItem& it : items) {
    bool done =
        g_cv.wait_for(lk, patience(), [&] { return it.call->launched || it.comm->c->broken; });
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
  if (c.op < ncclSum || c.op > ncclAvg)
    return fail(ncclInvalidArgument, "this reduction is not supported");
  if (c.root < 0 || c.root >= comm->c->n) return fail(ncclInvalidArgument, "root is not a rank");
  if (!buffersOk(c, comm->c->n, comm->rank, comm->dev)) return ncclInvalidArgument;
  std::vector<GroupItem> one = {{comm, std::make_shared<Call>(c)}};
  if (t_depth) {
    t_items.push_back(one[0]);
    return ncclSuccess;
  }
  return runItems(one);
}
// Returns ncclInProgress until all ranks have come.
ncclResult_t tryJoin(ncclComm* c) {
  {
    std::lock_guard<std::mutex> lk(g_mu);
    if (c->c->joined == c->c->n) {
      c->peers.reset();
      return ncclSuccess;
    }
  }
  if (!c->peers || c->peers->joined() < c->c->n) return ncclInProgress;
  c->peers->removeFile();
  // The other threads are about to note it.
  if (!c->peers->severalProcesses()) return ncclInProgress;
  if (c->peers->oneRankEach()) return ncclSuccess;
  return fail(
      ncclInvalidUsage,
      "ncclCommInitRank: a process with several ranks of several processes is not simulated");
}
ncclResult_t waitJoined(ncclComm* c) {
  const auto end = std::chrono::steady_clock::now() + patience();
  for (;;) {
    const ncclResult_t r = tryJoin(c);
    if (r != ncclInProgress) return r;
    if (std::chrono::steady_clock::now() > end)
      return fail(ncclInternalError, "ncclCommInitRank: not every rank joined");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
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
  std::snprintf(id->internal, sizeof id->internal, "cudasim-%d-%lld-%d", (int)getpid(),
                (long long)std::chrono::steady_clock::now().time_since_epoch().count(), ++next);
  return ncclSuccess;
}
static ncclResult_t initRank(ncclComm_t* out, int n, const ncclUniqueId& id, int rank,
                             bool elsewhere, bool waits) {
  int dev = 0;
  if (cudaGetDevice(&dev) != cudaSuccess) return fail(ncclUnhandledCudaError, "no device");
  if (!out || n < 1 || rank < 0 || rank >= n) return fail(ncclInvalidArgument, "ncclCommInitRank");
  ncclComm* c = new ncclComm;
  c->id = std::string(id.internal, strnlen(id.internal, sizeof id.internal));
  if (elsewhere && n > 1) {
    c->peers = std::make_shared<Peers>(c->id, n, rank);
    if (!c->peers->isOpen()) {
      delete c;
      return fail(ncclInvalidUsage, "ncclCommInitRank: rank " + std::to_string(rank) +
                                        " is there already, or there is no shared memory for it");
    }
  }
  {
    std::lock_guard<std::mutex> lk(g_mu);
    auto& q = g_cliques[c->id];
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
      return fail(ncclInvalidUsage,
                  twice ? "two ranks on one device" : "ncclCommInitRank: the ranks disagree");
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
  return waits ? waitJoined(c) : tryJoin(c);
}
API ncclResult_t ncclCommInitRank(ncclComm_t* out, int n, ncclUniqueId id, int rank) {
  return initRank(out, n, id, rank, true, true);
}
// With blocking = 0, ncclCommGetAsyncError says when all ranks have come.
API ncclResult_t ncclCommInitRankConfig(ncclComm_t* out, int n, ncclUniqueId id, int rank,
                                        ncclConfig_t* config) {
  return initRank(out, n, id, rank, true, !config || config->blocking != 0);
}
API ncclResult_t ncclCommInitAll(ncclComm_t* out, int n, const int* devs) {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return fail(ncclUnhandledCudaError, "no device");
  if (n < 1 || n > count)
    return fail(ncclInvalidArgument, "ncclCommInitAll: more ranks than devices");
  ++t_depth;
  ncclResult_t r = ncclSuccess;
  for (int k = 0; k < n && r == ncclSuccess; ++k) {
    OnDevice d(devs ? devs[k] : k);
    r = initRank(&out[k], n, id, k, false, true);
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
  if (c->peers) c->peers->abort();
  {
    std::lock_guard<std::mutex> lk(g_mu);
    c->c->broken = true;
    g_cv.notify_all();
  }
  delete c;
  return ncclSuccess;
}
API ncclResult_t ncclCommGetAsyncError(ncclComm_t c, ncclResult_t* r) {
  if (c->peers && c->peers->error() != ncclSuccess) {
    *r = c->peers->error();
    return ncclSuccess;
  }
  *r = tryJoin(c);
  std::lock_guard<std::mutex> lk(g_mu);
  if (c->c->broken) *r = ncclInternalError;
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
API ncclResult_t ncclAllReduce(const void* s, void* r, size_t n, ncclDataType_t t, ncclRedOp_t op,
                               ncclComm_t c, cudaStream_t st) {
  return ask(c, {ALLREDUCE, s, r, n, t, op, 0, st});
}
API ncclResult_t ncclBroadcast(const void* s, void* r, size_t n, ncclDataType_t t, int root,
                               ncclComm_t c, cudaStream_t st) {
  return ask(c, {BROADCAST, s, r, n, t, ncclSum, root, st});
}
API ncclResult_t ncclBcast(void* b, size_t n, ncclDataType_t t, int root, ncclComm_t c,
                           cudaStream_t st) {
  return ncclBroadcast(b, b, n, t, root, c, st);
}
API ncclResult_t ncclReduce(const void* s, void* r, size_t n, ncclDataType_t t, ncclRedOp_t op,
                            int root, ncclComm_t c, cudaStream_t st) {
  return ask(c, {REDUCE, s, r, n, t, op, root, st});
}
API ncclResult_t ncclAllGather(const void* s, void* r, size_t n, ncclDataType_t t, ncclComm_t c,
                               cudaStream_t st) {
  return ask(c, {ALLGATHER, s, r, n, t, ncclSum, 0, st});
}
API ncclResult_t ncclReduceScatter(const void* s, void* r, size_t n, ncclDataType_t t,
                                   ncclRedOp_t op, ncclComm_t c, cudaStream_t st) {
  return ask(c, {REDUCESCATTER, s, r, n, t, op, 0, st});
}
API ncclResult_t ncclSend(const void* s, size_t n, ncclDataType_t t, int peer, ncclComm_t c,
                          cudaStream_t st) {
  if (c && !c->peers) return fail(ncclInvalidUsage, "ncclSend is simulated only between processes");
  return ask(c, {SEND, s, nullptr, n, t, ncclSum, peer, st});
}
API ncclResult_t ncclRecv(void* r, size_t n, ncclDataType_t t, int peer, ncclComm_t c,
                          cudaStream_t st) {
  if (c && !c->peers) return fail(ncclInvalidUsage, "ncclRecv is simulated only between processes");
  return ask(c, {RECV, nullptr, r, n, t, ncclSum, peer, st});
}
