// Ours and PyTorch's modes in turns, within a time limit. Whatever fails is noted and the rest goes
// on.
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
      : end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}
  double left() const { return std::chrono::duration<double>(end_ - Clock::now()).count(); }
  // The seconds that a worker may take for one answer; it ends itself then.
  int for_an_answer(double most) const {
    return std::max(1, static_cast<int>(std::min(most, left())));
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

// Seconds that an answer of ours and of PyTorch may take: a CUDA context and the libraries are
// loaded for the first one. A network's first compilation takes most of a minute. A mode that has
// lost `lost_limit` by failing or hanging is left out.
inline constexpr double answer_limit = 90, opponent_limit = 30, compile_limit = 90, lost_limit = 30;

// A mode of PyTorch.
struct Opponent {
  std::shared_ptr<Child> child{};
  double lost = 0;  // seconds without a result
};

// What a run is made of.
struct GpuPlan {
  Plan plan;
  Deadline deadline;
  std::map<std::string, Opponent> opponents;  // by mode; empty without PyTorch

  // PyTorch with one mode of running a step, loaded once for all jobs. Does not wait for it. It
  // ends an answer that takes too long itself; if it does not, it is ended some seconds later.
  void start_opponent(const std::string& mode) {
    Command command{plan.opponent, {}, {}, limit_of(mode) + 5};
    command.arguments.insert(command.arguments.end(), {"--device", "cuda", mode});
    opponents[mode].child = std::make_shared<Child>(command);
  }
  // Without cuDNN, or where that pays with it.
  std::unique_ptr<Runner> ours(const std::string& name, const std::string& precision,
                               bool cudnn = false) const {
    const std::string seconds = std::to_string(deadline.for_an_answer(answer_limit));
    const Command command{{plan.program, "worker", precision, seconds, name},
                          {},
                          {cudnn ? "GPUNET_CUDNN=" : "GPUNET_CUDNN=never"}};
    return std::make_unique<Runner>(std::make_shared<Child>(command), "start");
  }
  std::unique_ptr<Runner> pytorch(const std::string& mode, const GpuResult& r) {
    const int seconds = deadline.for_an_answer(limit_of(mode));
    if (opponents.at(mode).child->has_ended()) start_opponent(mode);
    return std::make_unique<Runner>(opponents.at(mode).child,
                                    gpunet::concat("start ", r.job, " ", r.precision, " ", seconds),
                                    "end");
  }

 private:
  static double limit_of(const std::string& mode) {
    return mode == "compiled" ? compile_limit : opponent_limit;
  }
};

// The lines that are wanted (of all jobs if `names` is empty; "goals": the jobs with goals, "rest":
// the others), goals first: they are measured before a run is cut.
inline std::vector<GpuResult> plan_lines(const std::vector<std::string>& names,
                                         const std::string& which) {
  std::vector<GpuResult> lines;
  for (const std::string precision : {"exact", "tf32"})
    for (const GpuJob& job : gpu_jobs()) {
      const bool is_wanted = names.empty() || std::count(names.begin(), names.end(), job.name) > 0;
      if (!is_wanted || (precision == "tf32" && !job.tf32)) continue;
      GpuResult r;
      r.job = job.name;
      r.precision = precision;
      r.cost = job.cost;
      r.goal = job.goals.eager, r.graphed_goal = job.goals.graphed,
      r.fastest_goal = job.goals.fastest;
      r.large_convolutions = job.large_convolutions;
      // Factors that a tensor core truncates to 10 bits err by up to 2^-10: the logits, of order 1,
      // of six layers of two factors each by up to 1.2 %.
      r.tolerance = precision == "tf32" ? 1e-2 : 1e-3;
      if (which == "all" || r.has_goal() == (which == "goals")) lines.push_back(r);
    }
  std::stable_partition(lines.begin(), lines.end(),
                        [](const GpuResult& r) { return r.has_goal(); });
  return lines;
}

// One of those who take turns.
struct Turn {
  std::string name;
  std::function<std::shared_ptr<Runner>()> start;
  Side* side;
  double* lost = nullptr;  // of an opponent
  std::shared_ptr<Runner> runner{};
};

// Fills in the sides of all that can be measured; `trouble` gets a note for each of the others.
// Returns the remark of each mode of PyTorch.
inline std::string take_turns(const Plan& plan, std::vector<Turn> turns, std::string& trouble) {
  const auto attempt = [&trouble](Turn& turn, auto&& what) {
    const auto begin = std::chrono::steady_clock::now();
    try {
      what();
    } catch (const std::exception& error) {
      turn.runner.reset();
      if (turn.lost)
        *turn.lost +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
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
      remarks +=
          gpunet::concat(remarks.empty() ? "" : ", ", turn.name, " with ", turn.runner->remark());
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

// Adds a mode of PyTorch to the workers that take turns, unless it is left out.
inline void add_opponent(GpuPlan& gpu, GpuResult& r, const std::string& mode, Side& side,
                         std::vector<Turn>& turns) {
  const auto opponent = gpu.opponents.find(mode);
  if (opponent == gpu.opponents.end()) return;
  if (opponent->second.lost > lost_limit) {
    r.trouble += gpunet::concat("; ", mode, " left out: it lost ",
                                std::llround(opponent->second.lost), " s before");
    return;
  }
  turns.push_back(
      {mode, [&gpu, &r, mode] { return gpu.pytorch(mode, r); }, &side, &opponent->second.lost});
}

// Fills in a line: ours, without cuDNN and where that is for it with, PyTorch's eager step and its
// CUDA-graphed one.
inline void measure_line(GpuPlan& gpu, const Limits& limits, GpuResult& r) {
  r.is_tried = true;
  r.has_cudnn = r.large_convolutions && gpunet::backends::cudnn::is_available();
  r.copy_gigabytes = limits.copy_gigabytes;
  r.peak_gflops = r.precision == "tf32" ? limits.tf32_gflops : limits.exact_gflops;
  std::vector<Turn> turns;
  turns.push_back({"ours", [&] { return gpu.ours(r.job, r.precision); }, &r.ours});
  if (r.has_cudnn)
    turns.push_back(
        {"ours with cuDNN", [&] { return gpu.ours(r.job, r.precision, true); }, &r.with_cudnn});
  add_opponent(gpu, r, "eager", r.pytorch, turns);
  add_opponent(gpu, r, "graphed", r.graphed, turns);
  r.variant = take_turns(gpu.plan, std::move(turns), r.trouble);
  const bool is_incomplete = !r.is_correct() && r.differences().empty();
  // Its workers ended with the time.
  if (is_incomplete && gpu.deadline.left() < 1) r.is_tried = false;
}

// Adds torch.compile's step.
inline void measure_compiled(GpuPlan& gpu, GpuResult& r) {
  std::vector<Turn> turns;
  add_opponent(gpu, r, "compiled", r.compiled, turns);
  take_turns(gpu.plan, std::move(turns), r.trouble);
}

}  // namespace bench::gpu
