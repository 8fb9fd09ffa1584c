// Optional, not part of distributed.hpp. A program for Cuda that includes this header in one
// source, and links NCCL 2.13 or later (gpunet::nccl in CMake), runs on all processes that
// torchrun, mpirun or srun starts, each with a GPU of its own:
//   torchrun --no-python --nproc-per-node 4 ./program
//   Communicator comm;
//   Cuda device(static_cast<int>(comm.local_rank()));
// Operations on tensors of the GPU run there, ordered by its stream: the host does not wait, and a
// train::Step is recorded with them. Those on host memory (metrics, comparisons) go through the
// GPU, or by MPI if the program has <gpunet/distributed/mpi.hpp> too.
//
// Without MPI the processes meet by CommunicatorOptions::init_method. A rank that ends, fails or
// does not come within the timeout is an Error where this rank waits for it on the host. Where only
// the GPU waits, its numbers would be wrong and nothing would show it: there the process ends with
// the message and status 1, as PyTorch's does.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>
#include <exception>
#include <memory>
#include <mutex>
#include <nccl.h>
#include <string>
#include <thread>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/launch.hpp>
#include <gpunet/distributed/engine.hpp>
#include <gpunet/distributed/rendezvous.hpp>

namespace gpunet::distributed::detail {

inline void check_nccl(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw_error(Error(concat("gpunet::distributed: ", what, " fails: ", cudaGetErrorString(code),
                           " (", cudaGetErrorName(code), ")")));
}

inline ncclDataType_t nccl_type(io::Dtype type) {
  switch (type) {
    case io::Dtype::F16:
      return ncclFloat16;
    case io::Dtype::BF16:
      return ncclBfloat16;
    case io::Dtype::F32:
      return ncclFloat32;
    case io::Dtype::F64:
      return ncclFloat64;
    case io::Dtype::I32:
      return ncclInt32;
    case io::Dtype::U32:
      return ncclUint32;
    case io::Dtype::I64:
      return ncclInt64;
    case io::Dtype::U64:
      return ncclUint64;
    case io::Dtype::I8:
      return ncclInt8;
    default:
      return ncclUint8;
  }
}

inline ncclRedOp_t nccl_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::avg:
      return ncclAvg;
    case ReduceOp::product:
      return ncclProd;
    case ReduceOp::min:
      return ncclMin;
    case ReduceOp::max:
      return ncclMax;
    default:
      return ncclSum;
  }
}

// Makes a GPU current in this thread, and the one before it again at the end.
class NcclDevice {
 public:
  explicit NcclDevice(int ordinal) {
    static_cast<void>(cudaGetDevice(&before_));
    check_nccl(cudaSetDevice(ordinal), "cudaSetDevice");
  }
  ~NcclDevice() { static_cast<void>(cudaSetDevice(before_)); }
  NcclDevice(const NcclDevice&) = delete;
  NcclDevice& operator=(const NcclDevice&) = delete;

 private:
  int before_ = 0;
};

// Operations of NCCL on a stream of their own beside the program's.
class NcclEngine final : public Engine {
  using Clock = std::chrono::steady_clock;

 public:
  // `host`: an engine for host memory, or null. The GPU is that of the place among the processes of
  // the machine.
  NcclEngine(const CommunicatorOptions& options, const Launch& launch, std::shared_ptr<Engine> host,
             int devices)
      : timeout_(options.timeout), launch_(launch), host_(std::move(host)) {
    if (host_)
      launch_.rank = host_->rank(), launch_.world_size = host_->size(),
      launch_.local_rank = host_->local_rank(), launch_.local_world_size = host_->local_size();
    ordinal_ = static_cast<int>(launch_.local_rank % devices);
    const NcclDevice device(ordinal_);
    gpunet::detail::attempt<Error>([&] { connect(options); },
                                   [&](const Error& error) {
                                     stop_watch();
                                     links_.fail(error.what());
                                     release();
                                     gpunet::detail::rethrow();
                                   });
  }
  NcclEngine(const NcclEngine&) = delete;
  NcclEngine& operator=(const NcclEngine&) = delete;
  ~NcclEngine() override {
    int before = 0;
    static_cast<void>(cudaGetDevice(&before));
    static_cast<void>(cudaSetDevice(ordinal_));
    const bool has_error = std::uncaught_exceptions() > exceptions_;
    if (!has_error && !has_failed())
      static_cast<void>(cudaDeviceSynchronize());  // the others wait for these operations
    stop_watch();
    bool fails = has_error || !failure_.empty();
    if (fails)
      links_.fail(failure_.empty() ? "it has ended with an error of its own" : failure_);
    else
      fails = !links_.leave(rank(), Clock::now() + timeout_);
    if (!is_aborted_) fails ? ncclCommAbort(comm_) : ncclCommDestroy(comm_);
    release();
    static_cast<void>(cudaSetDevice(before));
  }

  std::string name() const override { return host_ ? concat("nccl, ", host_->name()) : "nccl"; }
  index_t rank() const override { return launch_.rank; }
  index_t size() const override { return launch_.world_size; }
  index_t local_rank() const override { return launch_.local_rank; }
  index_t local_size() const override { return launch_.local_world_size; }
  bool takes_device_memory() const override { return true; }

  std::uint64_t start(const CollectiveCall& call) override {
    require_working();
    const NcclDevice device(ordinal_);
    if (!call.stream) {
      finish_device();
      if (host_) return host_->start(call);
      run_on_host(call);
      return 0;
    }
    const auto stream = static_cast<cudaStream_t>(call.stream);
    require_device(call);
    if (program_ != stream) join();
    program_ = stream;
    check_nccl(cudaEventRecord(before_, stream), "cudaEventRecord");
    check_nccl(cudaStreamWaitEvent(stream_, before_, 0), "cudaStreamWaitEvent");
    submit(call);
    return of_device | ++started_;
  }

  void wait(std::uint64_t number) override {
    if (number & of_device) {
      if ((number & ~of_device) > joined_) join();
    } else if (host_) {
      host_->wait(number);
    }
  }

  void advance() override {
    if (host_) host_->advance();
  }

  void abandon(const std::string& why) override {
    if (has_failed()) return;
    stop_watch();
    failure_ = why;
    links_.fail(why);
    if (host_) host_->abandon(why);
    is_aborted_ = true;
    ncclCommAbort(comm_);  // or freeing the memory of its operations would wait for them
  }

 private:
  static constexpr std::uint64_t of_device =
      std::uint64_t{1}  // In the numbers of calls on the memory of the GPU.
      << 63;

  // Written by the streams: whether an operation is running, and that one has ended since the host
  // has last looked. A GPU writes a byte as a whole; nothing else depends on the order of these
  // writes.
  struct Marks {
    unsigned char busy, has_ended;

    bool is_busy() { return std::atomic_ref(busy).load(std::memory_order_relaxed); }
    void set_busy(bool is) { std::atomic_ref(busy).store(is, std::memory_order_relaxed); }
    bool take_ended() { return std::atomic_ref(has_ended).exchange(0, std::memory_order_relaxed); }
  };

  void connect(const CommunicatorOptions& options) {
    ncclUniqueId id{};
    if (launch_.rank == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    share_id(id, options);
    // The marks of the streams for the watch, in memory that the GPU writes and the host reads.
    check_nccl(
        cudaHostAlloc(reinterpret_cast<void**>(&marks_), sizeof(Marks), cudaHostAllocPortable),
        "cudaHostAlloc");
    std::memset(marks_, 0, sizeof(Marks));
    const unsigned char values[] = {0, 1};
    check_nccl(cudaMalloc(reinterpret_cast<void**>(&values_), sizeof values), "cudaMalloc");
    check_nccl(cudaMemcpy(values_, values, sizeof values, cudaMemcpyHostToDevice), "cudaMemcpy");
    check_nccl(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
    for (cudaEvent_t* event : {&before_, &after_})
      check_nccl(cudaEventCreateWithFlags(event, cudaEventDisableTiming),
                 "cudaEventCreateWithFlags");
    marks_->set_busy(true);
    watch_ = std::thread([this] { watch(); });
    check(ncclCommInitRank(&comm_, static_cast<int>(size()), id, static_cast<int>(rank())),
          "ncclCommInitRank");
    marks_->set_busy(false);
    is_ready_ = true;
  }
  void release() {
    static_cast<void>(cudaFree(staging_));
    for (const cudaEvent_t event : {before_, after_})
      if (event) static_cast<void>(cudaEventDestroy(event));
    if (stream_) static_cast<void>(cudaStreamDestroy(stream_));
    static_cast<void>(cudaFreeHost(marks_));
    static_cast<void>(cudaFree(values_));
  }

  // Throws Error if a call of NCCL has failed.
  void check(ncclResult_t result, const char* what) const {
    if (result == ncclSuccess || result == ncclInProgress) return;
    const char* const detail = ncclGetLastError(nullptr);
    throw_error(Error(concat(
        "gpunet::distributed: ", what, " fails on rank ", rank(), " of ", size(), " (GPU ",
        ordinal_, "): ", ncclGetErrorString(result), detail && *detail ? concat(", ", detail) : "",
        ", see the messages of the other ranks, and set NCCL_DEBUG=INFO; each rank needs a GPU of "
        "its own")));
  }

  void share_id(ncclUniqueId& id, const CommunicatorOptions& options) {
    if (host_)
      return host_->wait(
          host_->start({.kind = Collective::broadcast, .elements = sizeof id, .data = &id}));
    auto [text, links] =
        Rendezvous(launch_, options).share(std::string(id.internal, sizeof id.internal));
    require(text.size() == sizeof id.internal,
            "gpunet::distributed::Communicator: rank 0 has sent no id of NCCL (is it another "
            "program?), start the same program on all ranks");
    std::memcpy(id.internal, text.data(), sizeof id.internal);
    links_ = std::move(links);
  }

  void require_device(const CollectiveCall& call) const {
    if (call.elements == 0) return;
    cudaPointerAttributes attributes{};
    check_nccl(cudaPointerGetAttributes(&attributes, call.data), "cudaPointerGetAttributes");
    require(attributes.device == ordinal_, "gpunet::distributed: memory of GPU ", attributes.device,
            ", and NCCL of rank ", rank(), " uses GPU ", ordinal_,
            " (each process has one), make the device by Cuda "
            "device(static_cast<int>(comm.local_rank()))");
  }

  // Puts an operation into the stream, with its marks also if NCCL refuses it: then nothing is
  // running.
  void submit(const CollectiveCall& call) {
    mark(&marks_->busy, 1);
    gpunet::detail::attempt<Error>(
        [&] { submit_unmarked(call); },
        [&](const Error&) {
          static_cast<void>(
              cudaMemcpyAsync(&marks_->busy, values_, 1, cudaMemcpyDeviceToHost, stream_));
          gpunet::detail::rethrow();
        });
    mark(&marks_->busy, 0);
    mark(&marks_->has_ended, 1);
  }
  void submit_unmarked(const CollectiveCall& call) {
    const auto count = static_cast<std::size_t>(call.elements);
    const ncclDataType_t type = nccl_type(call.type);
    const int root = static_cast<int>(call.root);
    switch (call.kind) {
      case Collective::all_reduce:
        check(ncclAllReduce(call.data, call.data, count, type, nccl_op(call.op), comm_, stream_),
              "ncclAllReduce");
        break;
      case Collective::reduce:
        check(ncclReduce(call.data, call.data, count, type, nccl_op(call.op), root, comm_, stream_),
              "ncclReduce");
        break;
      case Collective::broadcast:
        check(ncclBroadcast(call.data, call.data, count, type, root, comm_, stream_),
              "ncclBroadcast");
        break;
      case Collective::all_gather:
        check(ncclAllGather(call.from, call.data, count, type, comm_, stream_), "ncclAllGather");
        break;
      case Collective::all_to_all: {
        const auto bytes = static_cast<std::size_t>(call.bytes());
        check(ncclGroupStart(), "ncclGroupStart");
        ncclResult_t sends = ncclSuccess, receives = ncclSuccess;
        for (int r = 0;
             r < static_cast<int>(size()) && sends == ncclSuccess && receives == ncclSuccess; ++r) {
          const auto row = static_cast<std::size_t>(r) * bytes;
          sends = ncclSend(static_cast<const std::byte*>(call.from) + row, count, type, r, comm_,
                           stream_);
          receives =
              ncclRecv(static_cast<std::byte*>(call.data) + row, count, type, r, comm_, stream_);
        }
        // Also after an error, so that the next call is not in the group.
        const ncclResult_t ends = ncclGroupEnd();
        check(sends, "ncclSend");
        check(receives, "ncclRecv");
        check(ends, "ncclGroupEnd");
        break;
      }
      case Collective::barrier:  // staged: one byte of each rank
        check(ncclAllReduce(call.data, call.data, 1, ncclUint8, ncclMax, comm_, stream_),
              "ncclAllReduce");
        break;
    }
  }
  void mark(unsigned char* at, int value) {
    check_nccl(cudaMemcpyAsync(at, values_ + value, 1, cudaMemcpyDeviceToHost, stream_),
               "cudaMemcpyAsync");
  }

  // Lets later work of the program's stream follow the operations that were started.
  void join() {
    if (joined_ == started_) return;
    check_nccl(cudaEventRecord(after_, stream_), "cudaEventRecord");
    check_nccl(cudaStreamWaitEvent(program_, after_, 0), "cudaStreamWaitEvent");
    joined_ = started_;
  }

  // Waits for all operations before one on host memory, operations of recorded steps too: all ranks
  // must run them in one order.
  void finish_device() {
    wait_on_host([] { check_nccl(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); });
  }
  // Runs an operation on host memory through a buffer of the GPU, and waits for it.
  void run_on_host(const CollectiveCall& call) {
    const auto in = static_cast<std::size_t>(call.bytes_given(size()));
    const auto out = static_cast<std::size_t>(call.bytes_got(size()));
    if (const std::size_t bytes = in + out + 1; bytes > staged_) {
      if (staging_) check_nccl(cudaFree(std::exchange(staging_, nullptr)), "cudaFree");
      staged_ = 0;
      check_nccl(cudaMalloc(reinterpret_cast<void**>(&staging_), bytes), "cudaMalloc");
      staged_ = bytes;
    }
    CollectiveCall on_device = call;
    on_device.data = staging_;
    std::byte* const from = call.has_rows() ? staging_ + out : staging_;
    on_device.from = from;
    if (in > 0)
      check_nccl(cudaMemcpyAsync(from, call.has_rows() ? call.from : call.data, in,
                                 cudaMemcpyHostToDevice, stream_),
                 "cudaMemcpyAsync");
    wait_on_host([&] {
      submit(on_device);
      if (out > 0)
        check_nccl(cudaMemcpyAsync(call.data, staging_, out, cudaMemcpyDeviceToHost, stream_),
                   "cudaMemcpyAsync");
      check_nccl(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    });
  }

  bool has_failed() {
    const std::lock_guard lock(mutex_);
    return !failure_.empty();
  }
  void require_working() {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) throw_error(Error("gpunet::distributed: " + failure_));
  }
  // While it is there, this thread waits on the host: the watch ends the wait by ending NCCL, and
  // not the process.
  class HostWait {
   public:
    explicit HostWait(NcclEngine& engine) : engine_(engine) {
      const std::lock_guard lock(engine_.mutex_);
      engine_.host_waits_ = true;
    }
    ~HostWait() {
      const std::lock_guard lock(engine_.mutex_);
      engine_.host_waits_ = false;
    }
    HostWait(const HostWait&) = delete;
    HostWait& operator=(const HostWait&) = delete;

   private:
    NcclEngine& engine_;
  };
  template <class Work>
  void wait_on_host(const Work& work) {
    {
      const HostWait wait(*this);
      require_working();
      gpunet::detail::attempt<Error>(work, [&](const Error&) {
        require_working();  // if NCCL was ended, throws why
        gpunet::detail::rethrow();
      });
    }
    require_working();
  }

  // The watch: a thread that notices the reason why an operation is not done.
  void watch() {
    constexpr std::chrono::milliseconds pause(20);
    const std::chrono::milliseconds patience(2000);
    // The connections may say who causes an error of NCCL.
    const std::chrono::milliseconds news_delay(500);
    std::string nccl_error;
    Clock::time_point error_since;
    Clock::time_point progress = Clock::now();
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        if (stops_.wait_for(lock, pause, [this] { return is_stopped_; })) return;
      }
      const Clock::time_point now = Clock::now();
      const bool has_ended = marks_->take_ended();
      if (has_ended || !marks_->is_busy()) progress = now;
      std::string why = links_.news();
      if (nccl_error.empty() && is_ready_) {
        ncclResult_t state = ncclSuccess;
        if (ncclCommGetAsyncError(comm_, &state) == ncclSuccess && state != ncclSuccess &&
            state != ncclInProgress)
          nccl_error = ncclGetErrorString(state), error_since = now;
      }
      const bool has_error = !nccl_error.empty();
      if (why.empty() && links_.left() >= 0 && (has_error || now - progress > patience))
        why = concat("rank ", links_.left(), " has left, and rank ", rank(),
                     " waits for it (do all ranks have the same number of batches?), give all "
                     "ranks as many: data::DistributedSampler does");
      if (why.empty() && has_error && now - error_since > (links_ ? news_delay : pause))
        why = concat("rank ", rank(), ": NCCL reports ", nccl_error,
                     " (another rank has ended, or makes another call), see the messages of the "
                     "other ranks, and start all again from the last checkpoint");
      if (why.empty() && now - progress > timeout_)
        why = concat("rank ", rank(), " has waited for the other ranks for ",
                     std::chrono::duration<double>(timeout_).count(),
                     " s (one of them hangs, was stopped, works longer, or makes another call), "
                     "look at those processes, or give the Communicator a longer .timeout");
      if (!why.empty()) return fail(why);
    }
  }
  void fail(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (is_stopped_) return;
    failure_ = why;
    if (!host_waits_ || !is_ready_) {
      std::fprintf(stderr, "gpunet::distributed: %s\n", why.c_str());
      std::fflush(nullptr);
      links_.fail(why);
      std::_Exit(1);
    }
    links_.tell(why);
    is_aborted_ = true;
    ncclCommAbort(comm_);
  }
  void stop_watch() {
    {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
    }
    stops_.notify_all();
    if (watch_.joinable()) watch_.join();
  }

  std::chrono::milliseconds timeout_;
  Launch launch_;
  std::shared_ptr<Engine> host_;
  Links links_;  // to the other processes, without `host_`
  int ordinal_ = 0;
  ncclComm_t comm_ = nullptr;
  cudaStream_t stream_ = nullptr, program_ = nullptr;  // of the operations; of the work before
  cudaEvent_t before_ = nullptr, after_ = nullptr;
  Marks* marks_ = nullptr;
  unsigned char* values_ = nullptr;  // 0 and 1 on the GPU, for the marks
  std::byte* staging_ = nullptr;     // a copy of host memory
  std::size_t staged_ = 0;           // its bytes
  std::uint64_t started_ = 0, joined_ = 0;
  int exceptions_ = std::uncaught_exceptions();

  std::mutex mutex_;  // of the members that the watch writes
  std::condition_variable stops_;
  std::string failure_;
  bool is_stopped_ = false, is_aborted_ = false, host_waits_ = false;
  std::atomic<bool> is_ready_ = false;
  std::thread watch_;
};

inline std::shared_ptr<Engine> make_nccl_engine(const CommunicatorOptions& options,
                                                std::shared_ptr<Engine> host) {
  const Launch launch = launch_of_process();
  const bool has_host = host && host->size() > 1;  // torchrun's processes are not MPI's
  if (!has_host && launch.world_size == 1) return host;
  int devices = 0;
  const cudaError_t problem = cudaGetDeviceCount(&devices);
  if (problem != cudaSuccess) static_cast<void>(cudaGetLastError());
  if (has_host) {  // processes that share a GPU cannot have NCCL
    index_t has_device = devices >= host->local_size();
    host->wait(host->start({.kind = Collective::all_reduce,
                            .elements = 1,
                            .type = io::Dtype::I64,
                            .op = ReduceOp::min,
                            .data = &has_device}));
    if (!has_device) return host;
  } else if (devices == 0 && host) {
    return host;  // of which Communicator says why it connects nothing
  } else {
    host.reset();
  }
  require(devices > 0, "gpunet::distributed::Communicator: NCCL finds no GPU for rank ",
          launch.rank, " of ", launch.world_size, " (",
          problem == cudaSuccess ? "none is visible" : cudaGetErrorString(problem),
          "), include <gpunet/distributed/mpi.hpp> for Host");
  return std::make_shared<NcclEngine>(options, launch, std::move(host), devices);
}

[[maybe_unused]] inline const bool nccl_is_there =
    (device_engine_factory() = make_nccl_engine) != nullptr;

}  // namespace gpunet::distributed::detail
