// Results of the jobs on a GPU: correctness, goals, tables and JSON. Knows no CUDA.
#pragma once

#include <utility>

#include "../report.hpp"

namespace bench::gpu {

// A job with one precision: a line of the table. Result::pytorch is PyTorch's eager step.
struct GpuResult : Result {
  std::string precision;
  Side compiled, graphed;           // by torch.compile, and replayed as a CUDA graph
  Side with_cudnn;                  // ours in a process that may use cuDNN; `ours` does without
  bool large_convolutions = false;  // whether the job has a line in the table with cuDNN
  bool has_cudnn = false;           // whether this program has cuDNN for them
  bool is_tried = false;            // else there was no time
  double graphed_goal = unknown, fastest_goal = unknown;
  std::string trouble;  // what could not be measured, and why

  std::string name() const { return job + " " + precision; }
  bool has_goal() const {
    return std::isfinite(goal) || std::isfinite(graphed_goal) || std::isfinite(fastest_goal);
  }

  double graphed_ratio() const { return graphed.ms / ours.ms; }
  // Of PyTorch's modes that were measured.
  double fastest_ms() const { return std::fmin(std::fmin(pytorch.ms, compiled.ms), graphed.ms); }
  double fastest_ratio() const { return fastest_ms() / ours.ms; }

  // Losses after three steps that are not those of ours without cuDNN; empty if they agree.
  std::string differences() const {
    std::string text;
    if (!std::isfinite(ours.ms)) return text;
    for (const auto& [side, who] : {std::pair{&pytorch, "eager"},
                                    {&graphed, "graphed"},
                                    {&compiled, "compiled"},
                                    {&with_cudnn, "ours with cuDNN"}})
      if (std::isfinite(side->ms) &&
          !(std::fabs(side->value - ours.value) <= tolerance * std::fmax(1, ours.value)))
        text += gpunet::concat(text.empty() ? "" : ", ", who, " ", side->value);
    return text.empty() ? text : gpunet::concat("ours ", ours.value, ", ", text);
  }
  // Whether ours ran and agrees with everything that was measured beside it.
  bool is_correct() const {
    return std::isfinite(ours.ms) && differences().empty() &&
           (!has_cudnn || std::isfinite(with_cudnn.ms));
  }
  bool is_compared() const {
    return std::isfinite(ours.ms) && (std::isfinite(pytorch.ms) || std::isfinite(graphed.ms));
  }
};

// The lines of the table with cuDNN: those of large convolutions, with cuDNN's step as ours.
inline std::vector<GpuResult> with_cudnn(const std::vector<GpuResult>& results) {
  std::vector<GpuResult> lines;
  for (const GpuResult& r : results) {
    if (!r.large_convolutions) continue;
    lines.push_back(r);
    lines.back().ours = r.with_cudnn;
  }
  return lines;
}

// What was measured before the jobs.
struct Limits {
  double copy_gigabytes = unknown, exact_gflops = unknown, tf32_gflops = unknown;  // per second
};

inline constexpr detail::Column gpu_columns[] = {
    {"job", 14},        {"precision", 9},     {"ours us", 8}, {"eager us", 8},
    {"graphed us", 10}, {"compiled us", 11},  {"x eager", 7}, {"x graphed", 9},
    {"x fastest", 9},   {"of the limit", 14}, {"ours MB", 7}, {"PyTorch MB", 10}};

inline std::string gpu_table_row(const GpuResult& r) {
  using detail::digits;
  return detail::row(
      gpu_columns,
      {r.job, r.precision, digits(1e3 * r.ours.ms, 4), digits(1e3 * r.pytorch.ms, 4),
       digits(1e3 * r.graphed.ms, 4), digits(1e3 * r.compiled.ms, 4), digits(r.ratio(), 3),
       digits(r.graphed_ratio(), 3), digits(r.fastest_ratio(), 3),
       std::isfinite(r.limit_share()) ? detail::percent(r.limit_share()) + " " + r.limit() : "-",
       digits(r.ours.megabytes, 3), digits(r.pytorch.megabytes, 3)});
}

inline std::string gpu_table(const std::vector<GpuResult>& results) {
  std::string text = table_head(gpu_columns);
  for (const GpuResult& r : results)
    text += gpu_table_row(r);
  return text;
}

// The table without cuDNN and, for the jobs that it is for, the one with it.
inline std::string gpu_tables(const std::vector<GpuResult>& results) {
  std::string text = "Without cuDNN:\n\n" + gpu_table(results);
  if (const auto lines = with_cudnn(results); !lines.empty())
    text += "\nWith cuDNN, the jobs with large convolutions:\n\n" + gpu_table(lines);
  return text;
}

// The text under the tables.
inline std::string gpu_notes(const Limits& limits, const std::vector<GpuResult>& results) {
  using detail::digits;
  std::string text =
      gpunet::concat("- limits: copy ", digits(limits.copy_gigabytes, 3), " GB/s, multiply-adds ",
                     digits(limits.exact_gflops / 1e3, 3), " TFLOP/s in float, ",
                     digits(limits.tf32_gflops / 1e3, 3), " by tf32 instructions of a warp\n");
  for (const GpuResult& r : results) {
    std::string line;
    if (!r.variant.empty()) line += "; PyTorch: " + r.variant;
    if (r.unsteady()) line += "; DISTURBED by other programs, measure again";
    if (const std::string losses = r.differences(); !losses.empty())
      line += "; LOSSES DIFFER: " + losses;
    line += r.trouble;
    if (!line.empty()) text += gpunet::concat("- ", r.job, ", ", r.precision, line, "\n");
  }
  return text;
}

// Counts of the results: correctness and, separately, speed.
struct Verdict {
  int tried = 0, compared = 0, wrong = 0, untried = 0;  // lines
  int held = 0, missed = 0, unmeasured = 0;             // goals
  std::string correctness, goals, left_out;             // for people
};

inline Verdict judge(const std::vector<GpuResult>& results) {
  Verdict verdict;
  for (const GpuResult& r : results) {
    if (!r.is_tried) {
      ++verdict.untried;
      verdict.left_out += gpunet::concat(verdict.left_out.empty() ? "" : ", ", r.name());
      continue;
    }
    ++verdict.tried;
    verdict.compared += r.is_compared();
    if (r.is_correct()) continue;
    ++verdict.wrong;
    const std::string losses = r.differences();
    verdict.correctness +=
        gpunet::concat("- ", r.job, ", ", r.precision, ": WRONG",
                       losses.empty() ? "" : "; losses differ: ", losses, r.trouble, "\n");
  }
  const auto add = [&verdict](const GpuResult& r, double goal, double ratio, const char* whose,
                              const char* how) {
    if (!std::isfinite(goal)) return;
    const bool is_known = std::isfinite(ratio), holds = ratio >= goal;
    ++(holds ? verdict.held : is_known ? verdict.missed : verdict.unmeasured);
    verdict.goals +=
        gpunet::concat("- ", r.job, ", ", r.precision, how, ": at least ",
                       detail::digits(goal, goal < 2 ? 2 : 1), " times as fast as PyTorch's ",
                       whose, " step: ", is_known ? detail::digits(ratio, 3) : "not measured",
                       holds      ? ", holds\n"
                       : is_known ? ", does not hold\n"
                                  : "\n");
  };
  const auto add_all = [&add](const std::vector<GpuResult>& lines, const char* how) {
    for (const GpuResult& r : lines) {
      add(r, r.goal, r.ratio(), "eager", how);
      add(r, r.graphed_goal, r.graphed_ratio(), "CUDA-graphed", how);
      add(r, r.fastest_goal, r.fastest_ratio(), "fastest", how);
    }
  };
  add_all(results, "");
  add_all(with_cudnn(results), ", with cuDNN");
  return verdict;
}

// The line that scripts read.
inline std::string summary_line(const Verdict& v) {
  return gpunet::concat("summary: tried=", v.tried, " compared=", v.compared, " wrong=", v.wrong,
                        " left_out=", v.untried, " goals_held=", v.held, " goals_missed=", v.missed,
                        " goals_unmeasured=", v.unmeasured, "\n");
}

// Returns the text under the tables: correctness, unless nothing was measured, and the goals.
inline std::string gpu_verdict(const Verdict& v) {
  std::string text;
  if (v.tried > 0) {
    text = gpunet::concat("Correctness: ", v.tried, " lines measured, ", v.compared,
                          " beside PyTorch, ", v.wrong, " wrong\n\n", v.correctness,
                          v.correctness.empty() ? "" : "\n");
    if (!v.left_out.empty()) text += gpunet::concat("Not measured: ", v.left_out, "\n\n");
  }
  return text + gpunet::concat("Goals: ", v.held, " hold, ", v.missed, " do not, ", v.unmeasured,
                               " not measured\n\n", v.goals);
}

inline std::string gpu_json(const Surroundings& s, const Limits& limits,
                            const std::vector<GpuResult>& results) {
  using detail::number, detail::in_quotes;
  const Verdict verdict = judge(results);
  std::string text = "{\"jobs\": [";
  for (const GpuResult& r : results) {
    text += gpunet::concat(
        &r == results.data() ? "\n" : ",\n", "  {\"job\": ", in_quotes(r.job),
        ", \"precision\": ", in_quotes(r.precision), ", \"tried\": ", r.is_tried ? "true" : "false",
        ", \"correct\": ",
        !r.is_tried      ? "null"
        : r.is_correct() ? "true"
                         : "false",
        ", \"ours_ms\": ", number(r.ours.ms), ", \"with_cudnn_ms\": ", number(r.with_cudnn.ms),
        ", \"eager_ms\": ", number(r.pytorch.ms), ", \"compiled_ms\": ", number(r.compiled.ms),
        ", \"graphed_ms\": ", number(r.graphed.ms), ", \"eager_goal\": ", number(r.goal));
    text += gpunet::concat(", \"graphed_goal\": ", number(r.graphed_goal),
                           ", \"fastest_goal\": ", number(r.fastest_goal),
                           ", \"limit_share\": ", number(r.limit_share()),
                           ", \"limit\": ", in_quotes(r.limit()),
                           ", \"ours_mb\": ", number(r.ours.megabytes),
                           ", \"pytorch_mb\": ", number(r.pytorch.megabytes));
    text += gpunet::concat(", \"ours_loss\": ", number(r.ours.value),
                           ", \"pytorch_loss\": ", number(r.pytorch.value),
                           ", \"pytorch_variant\": ", in_quotes(r.variant),
                           ", \"trouble\": ", in_quotes(r.trouble), "}");
  }
  text += gpunet::concat("\n], \"copy_gigabytes_per_s\": ", number(limits.copy_gigabytes),
                         ", \"exact_gflops\": ", number(limits.exact_gflops),
                         ", \"tf32_gflops\": ", number(limits.tf32_gflops),
                         ", \"wrong\": ", verdict.wrong, ", \"left_out\": ", verdict.untried,
                         ", \"goals_held\": ", verdict.held, ", \"goals_missed\": ", verdict.missed,
                         ", \"goals_unmeasured\": ", verdict.unmeasured);
  return text + gpunet::concat(", \"date\": ", in_quotes(s.date),
                               ", \"gpu\": ", in_quotes(s.processor),
                               ", \"ours\": ", in_quotes(s.compiler),
                               ", \"pytorch\": ", in_quotes(s.opponent), "}\n");
}

// Returns the text between the two markers of docs/gpu.md.
inline std::string gpu_markdown(const Surroundings& s, const Limits& limits,
                                const std::vector<GpuResult>& results) {
  const Verdict verdict = judge(results);
  return gpunet::concat("- Date: ", s.date, "\n- GPU: ", s.processor, "\n- Ours: ", s.compiler,
                        "\n- PyTorch: ", s.opponent, "\n\n", gpu_tables(results), "\n",
                        verdict.tried > 0 ? gpu_notes(limits, results) + "\n" : "",
                        gpu_verdict(verdict));
}

}  // namespace bench::gpu
