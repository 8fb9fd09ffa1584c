// Ours and PyTorch's in turns.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "child.hpp"
#include "jobs.hpp"
#include "result.hpp"

namespace bench {

// What a run is made of.
struct Plan {
  int repetitions = 7;
  double repetition_ms = 50;                      // at least, each
  std::string program;                            // this one, which is its own worker
  std::vector<std::string> opponent;              // Python and the file, empty without PyTorch
  std::vector<std::string> opponent_environment;  // with which it is fastest
  std::vector<int> cores;                         // one processor number for each
};

// A worker and the times that it needed for a step.
class Runner {
 public:
  explicit Runner(const Command& command) : child_(command) {
    const std::string answer = child_.ask("start");
    int read = 0;
    gpunet::require(std::sscanf(answer.c_str(), "%lf %lf %lf %n", &side_.megabytes, &side_.process_megabytes,
                                &side_.value, &read) == 3,
                    "bench: a worker answered '", answer, "' to start");
    remark_ = answer.substr(static_cast<std::size_t>(read));
  }

  // Finds out how many steps take `ms` milliseconds.
  void calibrate(double ms) {
    for (;;) {
      const double time = run();
      if (time >= ms / 2) {
        steps_ = std::max(1ll, std::llround(static_cast<double>(steps_) * ms / time));
        return;
      }
      steps_ = std::max(steps_ + 1, std::llround(static_cast<double>(steps_) * std::min(100., ms / time)));
    }
  }

  // One repetition, after a pause in which the threads of the others fall asleep.
  void repeat() {
    ::usleep(10'000);
    times_.push_back(run() / static_cast<double>(steps_));
  }

  Side side() const {
    Side side = side_;
    side.ms = median(times_);
    return side;
  }
  double step_ms() const { return median(times_); }
  const std::string& remark() const { return remark_; }

 private:
  double run() { return std::stod(child_.ask(gpunet::concat("run ", steps_))); }

  Child child_;
  Side side_;
  std::string remark_;
  long long steps_ = 1;
  std::vector<double> times_;
};

// One worker of ours.
inline Runner* start_ours(const Plan& plan, const std::string& name, int threads) {
  const std::vector<int> processors(plan.cores.begin(), plan.cores.begin() + threads);
  return new Runner({{plan.program, "worker", std::to_string(threads), name}, processors, {}});
}

inline Runner* start_opponent(const Plan& plan, const std::string& name, int threads) {
  const std::vector<int> processors(plan.cores.begin(), plan.cores.begin() + threads);
  Command command{plan.opponent, processors, plan.opponent_environment};
  const std::string n = std::to_string(threads);
  command.arguments.insert(command.arguments.end(), {n, name});
  for (const char* variable : {"OMP_NUM_THREADS=", "MKL_NUM_THREADS=", "OPENBLAS_NUM_THREADS="})
    command.environment.push_back(variable + n);
  return new Runner(command);
}

// Measures a job: both sides and both limits of the machine take turns.
inline Result measure(const Plan& plan, const Job& job, int threads) {
  Result result;
  result.job = job.name;
  result.threads = threads;
  result.goal = job.goal;
  result.cost = job.cost;

  const auto bytes = static_cast<index_t>(job.cost.bytes);
  std::unique_ptr<Runner> pytorch;
  if (!plan.opponent.empty()) pytorch.reset(start_opponent(plan, result.job, threads));
  const std::unique_ptr<Runner> ours(start_ours(plan, result.job, threads));
  const std::unique_ptr<Runner> peak(start_ours(plan, "peak", threads));
  const std::unique_ptr<Runner> copy(start_ours(plan, gpunet::concat("copy:", bytes), threads));
  ours->calibrate(plan.repetition_ms);
  if (pytorch) pytorch->calibrate(plan.repetition_ms);
  peak->calibrate(plan.repetition_ms / 5);
  copy->calibrate(plan.repetition_ms / 5);
  for (int i = 0; i < plan.repetitions; ++i)
    for (Runner* runner : {ours.get(), pytorch.get(), peak.get(), copy.get()})
      if (runner) runner->repeat();

  result.ours = ours->side();
  if (pytorch) result.pytorch = pytorch->side(), result.variant = pytorch->remark();
  result.peak_gflops = peak->side().value / peak->step_ms() / 1e6;
  result.copy_gigabytes = copy->side().value / copy->step_ms() / 1e6;
  return result;
}

}  // namespace bench
