// Ours and PyTorch's ways in turns, within a time. Whatever fails is noted and the rest goes on.
#pragma once

#include <chrono>
#include <functional>
#include <map>

#include "../measure.hpp"
#include "jobs.hpp"
#include "report.hpp"

namespace bench::gpu {

// When the time is over.
class Deadline {
 public:
  explicit Deadline(double seconds)
      : end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}
  double left() const { return std::chrono::duration<double>(end_ - Clock::now()).count(); }
  // What a worker may take at most, in whole seconds; it ends itself then.
  int for_a_worker() const { return std::max(1, static_cast<int>(std::min(60.0, left()))); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

// What a run is made of.
struct GpuPlan {
  Plan plan;
  Deadline deadline;
  std::map<std::string, std::shared_ptr<Child>> opponents;  // by way; empty without PyTorch

  // PyTorch with one way of running a step, loaded once for all jobs.
  void start_opponent(const std::string& way) {
    Command command{plan.opponent, {}, {}};
    command.arguments.insert(command.arguments.end(), {"--device", "cuda", way});
    command.environment.push_back(
        gpunet::concat("GPUNET_BENCH_SECONDS=", std::max(1, static_cast<int>(deadline.left()))));
    opponents[way] = std::make_shared<Child>(command);
  }
  // Without cuDNN, or where that pays with it.
  std::unique_ptr<Runner> ours(const std::string& name, const std::string& precision, bool cudnn = false) const {
    const Command command{{plan.program, "worker", precision, std::to_string(deadline.for_a_worker()), name},
                          {},
                          {cudnn ? "GPUNET_CUDNN=" : "GPUNET_CUDNN=never"}};
    return std::make_unique<Runner>(std::make_shared<Child>(command), "start");
  }
  std::unique_ptr<Runner> pytorch(const std::string& way, const std::string& job,
                                  const std::string& precision) const {
    return std::make_unique<Runner>(opponents.at(way), gpunet::concat("start ", job, " ", precision), "end");
  }
};

// One of those who take turns.
struct Turn {
  std::string name;
  std::function<std::shared_ptr<Runner>()> start;
  Side* side;
  std::shared_ptr<Runner> runner{};
};

// Fills in the sides of all that can be measured; `trouble` gets a note for each of the others. Returns the remark of
// each way of PyTorch.
inline std::string take_turns(const Plan& plan, std::vector<Turn> turns, std::string& trouble) {
  const auto attempt = [&trouble](Turn& turn, auto&& what) {
    try {
      what();
    } catch (const std::exception& error) {
      turn.runner.reset();
      trouble += gpunet::concat("; ", turn.name, " not measured: ", error.what());
    }
  };
  for (Turn& turn : turns)
    attempt(turn, [&] {
      turn.runner = turn.start();
      turn.runner->calibrate(plan.repetition_ms);
    });
  for (int i = 0; i < plan.repetitions; ++i)
    for (Turn& turn : turns)
      if (turn.runner) attempt(turn, [&] { turn.runner->repeat(); });
  std::string remarks;
  for (const Turn& turn : turns) {
    if (!turn.runner) continue;
    *turn.side = turn.runner->side();
    if (!turn.runner->remark().empty())
      remarks += gpunet::concat(remarks.empty() ? "" : ", ", turn.name, " with ", turn.runner->remark());
  }
  return remarks;
}

// Copy bandwidth and peaks of this run.
inline Limits measure_limits(const GpuPlan& gpu) {
  Side copy, exact, tf32;
  std::string trouble;
  take_turns(gpu.plan,
             {{"copy", [&] { return gpu.ours("copy", "exact"); }, &copy},
              {"peak", [&] { return gpu.ours("peak", "exact"); }, &exact},
              {"tf32 peak", [&] { return gpu.ours("peak", "tf32"); }, &tf32}},
             trouble);
  if (!trouble.empty()) std::printf("limits%s\n", trouble.c_str());
  return {copy.value / copy.ms / 1e6, exact.value / exact.ms / 1e6, tf32.value / tf32.ms / 1e6};
}

// A job with ours, PyTorch's eager step and its CUDA-graphed one.
inline GpuResult measure_job(const GpuPlan& gpu, const Limits& limits, const GpuJob& job,
                             const std::string& precision) {
  GpuResult r;
  r.job = job.name;
  r.precision = precision;
  r.cost = job.cost;
  r.goal = job.goals.eager, r.graphed_goal = job.goals.graphed, r.fastest_goal = job.goals.fastest;
  r.tolerance = precision == "tf32" ? 1e-2 : 1e-3;
  r.copy_gigabytes = limits.copy_gigabytes;
  r.peak_gflops = precision == "tf32" ? limits.tf32_gflops : limits.exact_gflops;
  std::vector<Turn> turns;
  turns.push_back({"ours", [&] { return gpu.ours(r.job, precision); }, &r.ours});
  if (job.large_convolutions && gpunet::backends::cudnn::is_available())
    turns.push_back({"ours with cuDNN", [&] { return gpu.ours(r.job, precision, true); }, &r.with_cudnn});
  for (const auto& [way, side] : {std::pair{"eager", &r.pytorch}, std::pair{"graphed", &r.graphed}})
    if (gpu.opponents.count(way))
      turns.push_back(
          {way, [&gpu, &r, way = std::string(way)] { return gpu.pytorch(way, r.job, r.precision); }, side});
  r.variant = take_turns(gpu.plan, std::move(turns), r.trouble);
  return r;
}

// Adds torch.compile's step, which takes many seconds to make.
inline void measure_compiled(const GpuPlan& gpu, GpuResult& r) {
  std::vector<Turn> turns;
  turns.push_back({"compiled", [&] { return gpu.pytorch("compiled", r.job, r.precision); }, &r.compiled});
  take_turns(gpu.plan, std::move(turns), r.trouble);
}

}  // namespace bench::gpu
