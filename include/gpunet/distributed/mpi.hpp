// Optional, not part of distributed.hpp. A program that includes this header in one source, and
// links an MPI 3 (gpunet::mpi in CMake, the compiler mpicxx elsewhere), runs on all processes that
// mpirun or srun starts:
//   mpirun -n 4 ./program
#pragma once

#ifndef OMPI_SKIP_MPICXX
// Open MPI's header without its C++ bindings, which MPI 3 no longer has.
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
// That of MPICH.
#define MPICH_SKIP_MPICXX 1
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <mpi.h>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/distributed/engine.hpp>

namespace gpunet::distributed::detail {

inline void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw_error(
      Error(concat("gpunet::distributed: ", what,
                   " fails: ", std::string_view(text, static_cast<std::size_t>(length)),
                   " (see the messages of MPI above), look at the other ranks and the network")));
}

inline MPI_Datatype mpi_type(io::Dtype type) {
  switch (type) {
    case io::Dtype::F32:
      return MPI_FLOAT;
    case io::Dtype::F64:
      return MPI_DOUBLE;
    case io::Dtype::I32:
      return MPI_INT32_T;
    case io::Dtype::I64:
      return MPI_INT64_T;
    case io::Dtype::U64:
      return MPI_UINT64_T;
    default:
      return MPI_UINT8_T;
  }
}

inline MPI_Op mpi_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::product:
      return MPI_PROD;
    case ReduceOp::min:
      return MPI_MIN;
    case ReduceOp::max:
      return MPI_MAX;
    default:
      return MPI_SUM;
  }
}

// The report of a rank to the others beside its calls, where something may be wrong.
struct MpiReport {
  enum State : std::int64_t {
    none,
    waiting,  // for others, in the call with this number
    left,     // without an error, after so many calls; with a text: by exit()
    failed,   // with an error
    ended     // after an error, and its program is about to end
  };
  std::int64_t state = none;
  std::int64_t number = 0;
  std::int64_t kind = 0, type = 0, elements = 0;  // of the call
  char text[472] = "";                            // the error, or the reason of the call

  std::string call() const {
    return concat("call ", number, " (", to_string(static_cast<Collective>(kind)),
                  kind == static_cast<std::int64_t>(Collective::barrier)
                      ? std::string()
                      : concat(" of ", elements, " ", io::to_string(static_cast<io::Dtype>(type))),
                  text[0] ? ", " : "", text, ")");
  }
  bool same_call(const MpiReport& other) const {
    return kind == other.kind && type == other.type && elements == other.elements;
  }
};

// The reports between the ranks, on a communicator of their own, so that they can be sent while a
// call hangs.
class MpiReports {
 public:
  MpiReports() {
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    int size = 0;
    MPI_Comm_size(comm_, &size);
    last_.resize(static_cast<std::size_t>(size));
    listen();
  }
  MpiReports(const MpiReports&) = delete;
  MpiReports& operator=(const MpiReports&) = delete;

  int rank() const { return rank_; }
  index_t size() const { return std::ssize(last_); }
  // The last report of a rank.
  const MpiReport& of(index_t rank) const { return last_[static_cast<std::size_t>(rank)]; }

  void send(const MpiReport& report) {
    last_[static_cast<std::size_t>(rank_)] = report;
    for (int r = 0; r < static_cast<int>(last_.size()); ++r)
      if (r != rank_) {
        sent_.push_back({report, MPI_REQUEST_NULL});
        MPI_Isend(&sent_.back().report, sizeof(MpiReport), MPI_BYTE, r, 0, comm_,
                  &sent_.back().request);
      }
  }

  // Reads the reports that have come.
  void read() {
    for (int is_there = 1; is_there;) {
      MPI_Status status;
      if (MPI_Test(&request_, &is_there, &status) != MPI_SUCCESS) return;
      if (!is_there) break;
      MpiReport& last = last_[static_cast<std::size_t>(status.MPI_SOURCE)];
      if (incoming_.state == MpiReport::ended)
        std::memcpy(incoming_.text, last.text, sizeof last.text);
      last = incoming_;
      listen();
    }
    while (!sent_.empty()) {
      int is_sent = 0;
      if (MPI_Test(&sent_.front().request, &is_sent, MPI_STATUS_IGNORE) != MPI_SUCCESS || !is_sent)
        return;
      sent_.pop_front();
    }
  }

  // Waits until a condition holds for the reports of all other ranks. Returns whether it did.
  template <class Condition>
  bool wait_for_all(std::chrono::milliseconds time, Condition condition) {
    const auto end = std::chrono::steady_clock::now() + time;
    for (;;) {
      read();
      bool all = sent_.empty();
      for (int r = 0; r < static_cast<int>(last_.size()); ++r)
        all = all && (r == rank_ || condition(last_[static_cast<std::size_t>(r)]));
      if (all || std::chrono::steady_clock::now() > end) return all;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  // Ends it, where all is well.
  void close() {
    MPI_Cancel(&request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm_);
  }

 private:
  struct Sent {
    MpiReport report;
    MPI_Request request;
  };

  void listen() {
    MPI_Irecv(&incoming_, sizeof incoming_, MPI_BYTE, MPI_ANY_SOURCE, 0, comm_, &request_);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::vector<MpiReport> last_;
  MpiReport incoming_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::deque<Sent> sent_;
};

class MpiEngine;

// MPI in this process, from the first engine until the end of the program: MPI cannot start twice.
class MpiSession {
 public:
  static MpiSession& get() {
    static MpiSession session;
    return session;
  }
  ~MpiSession() {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_over) return;
    end_running();
    if (failed_ && failed_->size() == 1) failed_.reset();  // there is no other rank
    // The others cannot be relied on, so MPI_Finalize might wait for ever: end them, once they have
    // said why.
    if (failed_) {
      failed_->send({.state = MpiReport::ended});
      failed_->wait_for_all(std::chrono::seconds(5),
                            [](const MpiReport& r) { return r.state == MpiReport::ended; });
    }
    if (failed_ || is_lost_) {
      std::fflush(nullptr);
      std::this_thread::sleep_for(
          std::chrono::milliseconds(200));  // until the launcher has read all output
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (owns_) MPI_Finalize();
  }

  // Notes an engine, and its end.
  void begin(MpiEngine& engine) { running_.push_back(&engine); }
  void end(MpiEngine& engine, const std::shared_ptr<MpiReports>& reports, bool failed) {
    if (failed) failed_ = reports;
    running_.erase(std::remove(running_.begin(), running_.end(), &engine), running_.end());
  }
  // Notes that MPI can no longer be used, and there is nobody to tell.
  void lose() { is_lost_ = true; }
  bool has_failed() const { return failed_ || is_lost_; }

 private:
  MpiSession() {
    int is_there = 0, provided = 0;
    MPI_Initialized(&is_there);
    owns_ = !is_there;
    if (!owns_) return;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    // Open MPI reports errors of nonblocking calls there, for any communicator.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }

  void end_running();

  bool owns_ = false, is_lost_ = false;
  std::vector<MpiEngine*> running_;  // neither destroyed nor ended
  std::shared_ptr<MpiReports> failed_;
};

// Returns a communicator of all processes, which waits for them. Throws Error if they do not come
// in time.
inline MPI_Comm mpi_comm_of_all(std::chrono::milliseconds timeout, MpiSession& session) {
  struct Call {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  auto call = std::make_unique<Call>();
  check_mpi(MPI_Comm_idup(MPI_COMM_WORLD, &call->comm, &call->request), "MPI_Comm_idup");
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (int is_done = 0;;) {
    check_mpi(MPI_Test(&call->request, &is_done, MPI_STATUS_IGNORE), "MPI_Comm_idup");
    if (is_done) return call->comm;
    if (std::chrono::steady_clock::now() > end) break;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  static_cast<void>(call.release());  // MPI may write to it
  session.lose();
  throw_error(
      Error(concat("gpunet::distributed::Communicator: not all processes have made one within ",
                   std::chrono::duration<double>(timeout).count(),
                   " s (it takes all: a Communicator is no place for if (rank == 0)), make it on "
                   "all ranks, or give a longer .timeout")));
}

// Calls of MPI that do not block, so that a rank that does not come is noticed.
class MpiEngine final : public Engine {
  using Clock = std::chrono::steady_clock;

 public:
  explicit MpiEngine(const CommunicatorOptions& options)
      : timeout_(options.timeout), session_(MpiSession::get()) {
    require(!session_.has_failed(),
            "gpunet::distributed::Communicator: an earlier one has failed (MPI cannot go on after "
            "that), end the program and start it again from its checkpoint");
    for (MPI_Comm& comm : comms_) {
      comm = mpi_comm_of_all(timeout_, session_);
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    MPI_Comm of_machine;
    check_mpi(MPI_Comm_split_type(comms_[0], MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &of_machine),
              "MPI_Comm_split_type");
    MPI_Comm_rank(of_machine, &local_rank_);
    MPI_Comm_size(of_machine, &local_size_);
    MPI_Comm_free(&of_machine);
    reports_ = std::make_shared<MpiReports>();
    session_.begin(*this);
  }
  MpiEngine(const MpiEngine&) = delete;
  MpiEngine& operator=(const MpiEngine&) = delete;
  ~MpiEngine() override {
    if (has_ended_) return;
    if (!has_failed_ && std::uncaught_exceptions() > exceptions_)
      tell_failure("it has ended with an error of its own");
    end("");
  }
  // Ends the engine in std::exit(), which destroys no local object. A pending call can no longer be
  // completed.
  void exit() {
    const auto is_idle = [](const Pending& pending) {
      return pending.report.number == 0;
    };
    if (!has_failed_ && !std::ranges::all_of(pending_, is_idle))
      tell_failure("its program has ended by exit()");
    end("by exit()");
    has_ended_ = true;
  }

  std::string name() const override { return "mpi"; }
  index_t rank() const override { return reports_->rank(); }
  index_t size() const override { return reports_->size(); }
  index_t local_rank() const override { return local_rank_; }
  index_t local_size() const override { return local_size_; }

  std::uint64_t start(const CollectiveCall& call) override {
    require(!has_failed_,
            "gpunet::distributed: a call after one that has failed (the ranks are no longer in "
            "step), end the program and start it again from its checkpoint");
    const bool has_rows = call.has_rows();
    constexpr index_t most = std::numeric_limits<int>::max() / 2;  // MPI counts in int
    require(!has_rows || call.elements <= most,
            "gpunet::distributed::Communicator::", to_string(call.kind), ": ", call.elements,
            " elements of each rank (MPI takes ", most, "), give parts of them");
    Pending& pending = free_slot();
    pending.report = {MpiReport::waiting, static_cast<std::int64_t>(++number_),
                      static_cast<std::int64_t>(call.kind), static_cast<std::int64_t>(call.type),
                      call.elements};
    set_text(pending.report, call.reason);
    recent(pending.report) = pending.report;
    pending.call = call;
    const void* from = call.from;
    void* data = call.data;
    if (is_copied(call)) {  // given numbers, behind them the received ones unless it is in place
      const auto given = static_cast<std::size_t>(call.bytes_given(size()));
      pending.copy.resize((has_rows ? given : 0) +
                          static_cast<std::size_t>(call.bytes_got(size())));
      from = pending.copy.data();
      data = pending.copy.data() + (has_rows ? given : 0);
      std::memcpy(pending.copy.data(), has_rows ? call.from : call.data, given);
    }
    const MPI_Datatype type = mpi_type(call.type);
    const int root = static_cast<int>(call.root);
    const MPI_Comm comm = comms_[call.is_of_training ? 2 : call.is_checked ? 1 : 0];
    pending.requests.clear();
    const auto submit = [&](auto function, const char* name, auto... arguments) {
      pending.requests.push_back(MPI_REQUEST_NULL);
      check(function(arguments..., comm, &pending.requests.back()), name);
    };
    if (call.kind == Collective::barrier) {
      submit(MPI_Ibarrier, "MPI_Ibarrier");
    } else if (has_rows) {
      const int n = static_cast<int>(call.elements);
      if (call.kind == Collective::all_gather)
        submit(MPI_Iallgather, "MPI_Iallgather", from, n, type, data, n, type);
      else
        submit(MPI_Ialltoall, "MPI_Ialltoall", from, n, type, data, n, type);
    } else {
      for (index_t first = 0; first < call.elements; first += most) {
        const int n = static_cast<int>(std::min(most, call.elements - first));
        void* const part = static_cast<std::byte*>(data) + first * (io::bits_of(call.type) / 8);
        if (call.kind == Collective::all_reduce)
          submit(MPI_Iallreduce, "MPI_Iallreduce", MPI_IN_PLACE, part, n, type, mpi_op(call.op));
        else if (call.kind == Collective::broadcast)
          submit(MPI_Ibcast, "MPI_Ibcast", part, n, type, root);
        else if (root == reports_->rank())
          submit(MPI_Ireduce, "MPI_Ireduce", MPI_IN_PLACE, part, n, type, mpi_op(call.op), root);
        else
          submit(MPI_Ireduce, "MPI_Ireduce", part, static_cast<void*>(nullptr), n, type,
                 mpi_op(call.op), root);
      }
    }
    return number_;
  }

  void wait(std::uint64_t number) override {
    for (Pending& pending : pending_)
      if (pending.report.number == static_cast<std::int64_t>(number)) return wait(pending);
  }

  void advance() override {
    for (Pending& pending : pending_)
      if (pending.report.number > 0) is_done(pending);
  }
  void abandon(const std::string& why) override {
    if (!has_failed_) tell_failure(why);
  }

 private:
  // A call that was started; number 0: a free slot.
  struct Pending {
    MpiReport report;
    std::vector<MPI_Request> requests;
    CollectiveCall call;
    std::vector<std::byte> copy;  // of its memory, if that has no owner
  };

  static bool is_copied(const CollectiveCall& call) { return !call.owner && call.elements > 0; }

  // Returns the place of the call with the number of a report among the last ones of this rank.
  MpiReport& recent(const MpiReport& report) {
    return recent_[static_cast<std::size_t>(report.number) % recent_.size()];
  }

  Pending& free_slot() {
    for (Pending& pending : pending_)
      if (pending.report.number == 0) return pending;
    return pending_.emplace_back();
  }

  bool is_done(Pending& pending) {
    int flag = 0;
    const int code = test(pending, flag);
    if (code != MPI_SUCCESS) {  // the ranks' calls have met and differ, or a rank has ended
      look_at_others(pending.report, {});
      check(code, concat("MPI in ", pending.report.call()));
    }
    return flag != 0;
  }
  static int test(Pending& pending, int& flag) {
    return MPI_Testall(static_cast<int>(pending.requests.size()), pending.requests.data(), &flag,
                       MPI_STATUSES_IGNORE);
  }

  void wait(Pending& pending) {
    constexpr std::chrono::milliseconds soon(2), patience(1000);
    const Clock::time_point begin = Clock::now();
    const Clock::duration tell_after = std::min<Clock::duration>(patience, timeout_ / 2);
    bool has_told = false;
    for (unsigned polls = 1; !is_done(pending); ++polls) {
      if (polls % 64 != 0) continue;
      const Clock::duration waited = Clock::now() - begin;
      if (waited < soon) {
        std::this_thread::yield();  // another rank may need this processor
        continue;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      if (!has_told && waited > tell_after) {
        reports_->send(pending.report);
        has_told = true;
      }
      look_at_others(pending.report, waited);
    }
    if (is_copied(pending.call)) {
      const auto got = static_cast<std::size_t>(pending.call.bytes_got(size()));
      std::memcpy(pending.call.data, pending.copy.data() + (pending.copy.size() - got), got);
    }
    constexpr std::size_t most_kept = 1 << 20;  // for the next call
    if (pending.copy.size() > most_kept) pending.copy = {};
    pending.call.owner = nullptr;
    pending.report.number = 0;
  }

  // Throws Error if a call cannot be completed.
  void look_at_others(const MpiReport& own, Clock::duration waited) {
    reports_->read();
    std::string missing;
    for (index_t r = 0; r < size(); ++r) {
      if (r == rank()) continue;
      const MpiReport& other = reports_->of(r);
      if (other.state == MpiReport::failed || other.state == MpiReport::ended)
        fail(std::string_view(other.text).starts_with("rank ")  // its message is about another one
                 ? std::string(other.text)
                 : concat("rank ", r,
                          " has failed: ", other.text[0] ? other.text : "see its message",
                          ", start all ranks again from the last checkpoint"));
      if (other.state == MpiReport::left && other.number < own.number)
        fail(other.text[0]
                 ? concat("rank ", r, " has ended by exit() after ", other.number,
                          " calls, and this rank waits in ", own.call(),
                          ", see its messages, start all ranks again from the last checkpoint")
                 : concat(
                       "rank ", r, " has left after ", other.number,
                       " calls, and this rank waits in ", own.call(),
                       " (do all ranks have the same number of batches?), give all ranks as many: "
                       "data::DistributedSampler does"));
      // It may wait in a call that this rank has behind it: one that only gives numbers away is
      // done without the others.
      const MpiReport& mine = recent(other);
      if (other.state == MpiReport::waiting && other.number == mine.number &&
          !other.same_call(mine))
        fail(concat("rank ", r, " waits in ", other.call(), ", this rank ",
                    mine.number < own.number ? "was in " : "in ", mine.call(),
                    " (all ranks must make the same calls: the same network, the same frozen "
                    "parameters, as many batches), let them not depend on the rank"));
      if (other.state != MpiReport::waiting || other.number < own.number)
        missing += concat(missing.empty() ? "" : ", ", r);
    }
    if (waited > timeout_)
      fail(concat("rank ", missing.empty() ? "?" : missing, " has not come to ", own.call(),
                  " of this rank within ",
                  std::chrono::duration_cast<std::chrono::seconds>(timeout_).count(),
                  " s (it hangs, was stopped, or works longer), look at that process, or give the "
                  "Communicator a longer .timeout"));
  }

  void tell_failure(std::string_view why) {
    has_failed_ = true;
    reports_->send(report_of(MpiReport::failed, number_, why));
    reports_->read();
  }
  void check(int code, const std::string& what) {
    if (code == MPI_SUCCESS) return;
    tell_failure(concat(what, " fails"));
    check_mpi(code, what.c_str());
  }
  [[noreturn]] void fail(const std::string& why) {
    tell_failure(why);
    throw_error(Error(concat("gpunet::distributed: ", why)));
  }

  static MpiReport report_of(MpiReport::State state, std::uint64_t number, std::string_view text) {
    MpiReport report{.state = state, .number = static_cast<std::int64_t>(number)};
    set_text(report, text);
    return report;
  }
  static void set_text(MpiReport& report, std::string_view text) {
    std::memcpy(report.text, text.data(), std::min(text.size(), sizeof report.text - 1));
  }

  // Leaves the other ranks and frees the communicators.
  void end(std::string_view how) {
    if (!has_failed_) leave(how);
    session_.end(*this, reports_, has_failed_);
    for (Pending& pending : pending_)
      if (int flag = 0;
          pending.report.number > 0 && (has_failed_ || test(pending, flag) != MPI_SUCCESS || !flag))
        // Another rank may still write to its memory.
        static_cast<void>(new Pending(std::move(pending)));
    if (has_failed_) return;
    reports_->close();
    for (MPI_Comm& comm : comms_)
      MPI_Comm_free(&comm);
  }
  // Says goodbye, and waits for the others, as MPI_Finalize would.
  void leave(std::string_view how) {
    reports_->send(report_of(MpiReport::left, number_, how));
    const auto has_gone = [](const MpiReport& r) {
      return r.state == MpiReport::left || r.state == MpiReport::failed ||
             r.state == MpiReport::ended;
    };
    has_failed_ = !reports_->wait_for_all(timeout_, has_gone);
    for (index_t r = 0; r < size(); ++r)
      if (const MpiReport& other = reports_->of(r); r != rank()) {
        const bool left = other.state == MpiReport::left;
        if (left && other.number == static_cast<std::int64_t>(number_)) continue;
        has_failed_ = true;
        const std::string what =
            left
                ? concat("left after ", other.number,
                         " calls (some of the numbers were of other calls: all ranks must make the "
                         "same), let them not depend on the rank")
            : has_gone(other) ? concat("failed: ", other.text[0] ? other.text : "see its message")
                              : std::string("not");
        std::fprintf(
            stderr, "gpunet::distributed: rank %d has ended after %lld calls, but rank %d has %s\n",
            reports_->rank(), static_cast<long long>(number_), static_cast<int>(r), what.c_str());
      }
  }

  std::chrono::milliseconds timeout_;
  MpiSession& session_;
  // For gradients, for checked calls, for calls of training mode: where they meet because the ranks
  // are not in step, nobody gets numbers of another call.
  std::array<MPI_Comm, 3> comms_{MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
  int local_rank_ = 0, local_size_ = 1;
  std::shared_ptr<MpiReports> reports_;
  std::deque<Pending> pending_;
  std::array<MpiReport, 64> recent_;
  std::uint64_t number_ = 0;
  int exceptions_ = std::uncaught_exceptions();
  bool has_failed_ = false, has_ended_ = false;
};

inline void MpiSession::end_running() {
  while (!running_.empty())
    running_.back()->exit();
}

inline std::shared_ptr<Engine> make_mpi_engine(const CommunicatorOptions& options) {
  return std::make_shared<MpiEngine>(options);
}

[[maybe_unused]] inline const bool mpi_is_there = (engine_factory() = make_mpi_engine) != nullptr;

}  // namespace gpunet::distributed::detail
