// Measures ours and the opponents alternately.
#pragma once

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "child.hpp"
#include "jobs.hpp"
#include "result.hpp"

namespace bench {

// The options of a run.
struct Plan {
  int repetitions = 7;
  double repetition_ms = 50;                      // the shortest duration of each
  std::string program;                            // this program, which is its own worker
  std::vector<std::string> opponent;              // Python and the file, empty without PyTorch
  std::vector<std::string> opponent_environment;  // variables with which it is fastest
  bool has_onnx = false;                          // whether that Python has ONNX Runtime too
  std::vector<int> cores;                         // one processor number per core

  std::vector<int> first_cores(int threads) const {
    return {cores.begin(), cores.begin() + threads};
  }
};

// A benchmark running in a worker, and its times per step.
class Runner {
 public:
  // `start` and `end` are the lines sent to the worker; no line is sent at the end if `end` is
  // empty.
  Runner(std::shared_ptr<Child> child, const std::string& start, std::string end = "")
      : child_(std::move(child)), end_(std::move(end)) {
    const std::string answer = child_->ask(start);
    int read = 0;
    gpunet::require(std::sscanf(answer.c_str(), "%lf %lf %lf %n", &side_.megabytes,
                                &side_.process_megabytes, &side_.value, &read) == 3,
                    "bench: a worker answered '", answer, "' to '", start, "' (see above)");
    remark_ = answer.substr(static_cast<std::size_t>(read));
  }
  ~Runner() {
    try {
      if (!end_.empty()) child_->ask(end_);
    } catch (const gpunet::Error&) {  // it has ended on its own
    }
  }

  // Determines how many steps take `ms` milliseconds.
  void calibrate(double ms) {
    for (;;) {
      const double time = run();
      if (time >= ms / 2) {
        steps_ = std::max(1ll, std::llround(static_cast<double>(steps_) * ms / time));
        return;
      }
      steps_ = std::max(steps_ + 1,
                        std::llround(static_cast<double>(steps_) * std::min(100., ms / time)));
    }
  }

  // Runs one repetition. Idle threads keep spinning for a while (those of PyTorch's OpenMP for
  // about 16 ms), so a pause follows, to leave the processors to the next.
  void repeat() {
    times_.push_back(run() / static_cast<double>(steps_));
    ::usleep(40'000);
  }

  Side side() const {
    Side side = side_;
    side.ms = median(times_);
    side.fastest_ms = *std::min_element(times_.begin(), times_.end());
    return side;
  }
  double step_ms() const { return median(times_); }
  const std::string& remark() const { return remark_; }

 private:
  double run() {
    const std::string question = gpunet::concat("run ", steps_), answer = child_->ask(question);
    double ms = 0;
    gpunet::require(std::sscanf(answer.c_str(), "%lf", &ms) == 1, "bench: a worker answered '",
                    answer, "' to '", question, "' (see above)");
    return ms;
  }

  std::shared_ptr<Child> child_;
  Side side_;
  std::string end_, remark_;
  long long steps_ = 1;
  std::vector<double> times_;
};

// Starts the benchmark `name` in a worker of its own.
inline std::unique_ptr<Runner> start_ours(const Plan& plan, const std::string& name, int threads) {
  const Command command{
      {plan.program, "worker", std::to_string(threads), name}, plan.first_cores(threads), {}};
  return std::make_unique<Runner>(std::make_shared<Child>(command), "start");
}

// The processes of the opponents with one number of threads, null where there is none.
struct Opponents {
  std::shared_ptr<Child> pytorch, onnx;
};

// Starts PyTorch or ONNX Runtime with a number of threads, loaded once for all jobs.
inline std::shared_ptr<Child> start_opponent(const Plan& plan, const char* name, int threads) {
  const std::string n = std::to_string(threads);
  Command command{plan.opponent, plan.first_cores(threads), plan.opponent_environment};
  command.arguments.insert(command.arguments.end(), {name, n});
  for (const char* variable : {"OMP_NUM_THREADS=", "MKL_NUM_THREADS=", "OPENBLAS_NUM_THREADS="})
    command.environment.push_back(variable + n);
  // It allocates and frees large arrays in every step. Not returning them to the system saves up to
  // a quarter of its time.
  command.environment.insert(command.environment.end(), {"MALLOC_MMAP_THRESHOLD_=33554432",  //
                                                         "MALLOC_TRIM_THRESHOLD_=10000000000"});
  return std::make_shared<Child>(command);
}

// Starts the opponents that there are.
inline Opponents start_opponents(const Plan& plan, int threads) {
  return {plan.opponent.empty() ? nullptr : start_opponent(plan, "pytorch", threads),
          plan.has_onnx ? start_opponent(plan, "onnx", threads) : nullptr};
}

// Measures a job: all sides and both limits of the machine take turns. Opponents may be missing.
inline Result measure(const Plan& plan, const Job& job, int threads, const Opponents& opponents) {
  Result result;
  result.job = job.name;
  result.threads = threads;
  result.goal = job.goals.pytorch;
  result.onnx_goal = job.goals.onnx;
  result.cost = job.cost;

  const auto start = [&](const std::shared_ptr<Child>& opponent) {
    return opponent ? std::make_unique<Runner>(opponent, "start " + result.job, "end") : nullptr;
  };
  const auto pytorch = start(opponents.pytorch);
  const auto onnx = std::isfinite(job.goals.onnx) ? start(opponents.onnx) : nullptr;
  const auto ours = start_ours(plan, result.job, threads);
  const auto peak = start_ours(plan, "peak", threads);
  const auto copy =
      start_ours(plan, gpunet::concat("copy:", static_cast<index_t>(job.cost.bytes)), threads);
  for (Runner* runner : {ours.get(), pytorch.get(), onnx.get()})
    if (runner) runner->calibrate(plan.repetition_ms);
  peak->calibrate(plan.repetition_ms / 5);
  copy->calibrate(plan.repetition_ms / 5);
  for (int i = 0; i < plan.repetitions; ++i)
    for (Runner* runner : {pytorch.get(), ours.get(), onnx.get(), peak.get(), copy.get()})
      if (runner) runner->repeat();

  result.ours = ours->side();
  if (pytorch) result.pytorch = pytorch->side(), result.variant = pytorch->remark();
  if (onnx) result.onnx = onnx->side(), result.onnx_variant = onnx->remark();
  result.peak_gflops = peak->side().value / peak->step_ms() / 1e6;
  result.copy_gigabytes = copy->side().value / copy->step_ms() / 1e6;
  return result;
}

}  // namespace bench
