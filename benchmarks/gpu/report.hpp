// What is known of a job on a GPU, as a table, as JSON, and measured against the goals. Knows no CUDA.
#pragma once

#include "../report.hpp"

namespace bench::gpu {

// A job with one precision. Result::pytorch is PyTorch's eager step.
struct GpuResult : Result {
  std::string precision;
  Side compiled, graphed;  // by torch.compile, and replayed as a CUDA graph
  Side with_cudnn;         // ours in a process that may use cuDNN; `ours` does without
  double graphed_goal = unknown, fastest_goal = unknown;
  std::string trouble;  // what could not be measured, and why

  double graphed_ratio() const { return graphed.ms / ours.ms; }
  // Of PyTorch's ways that were measured.
  double fastest_ms() const { return std::fmin(std::fmin(pytorch.ms, compiled.ms), graphed.ms); }
  double fastest_ratio() const { return fastest_ms() / ours.ms; }
  double cudnn_ratio() const { return fastest_ms() / with_cudnn.ms; }
  // Whether cuDNN makes another loss of it.
  bool cudnn_differs() const {
    const double allowed = tolerance * std::fmax(1, std::fabs(ours.value));
    return std::isfinite(with_cudnn.ms) && !(std::fabs(with_cudnn.value - ours.value) <= allowed);
  }
};

// What was measured before the jobs.
struct Limits {
  double copy_gigabytes = unknown, exact_gflops = unknown, tf32_gflops = unknown;  // per second
};

inline constexpr detail::Column gpu_columns[] = {
    {"job", 14},          {"precision", 9},   {"ours ms", 8},    {"cuDNN ms", 8},  {"eager ms", 8},
    {"compiled ms", 11},  {"graphed ms", 10}, {"x eager", 7},    {"x graphed", 9}, {"x fastest", 9},
    {"of the limit", 14}, {"ours MB", 7},     {"PyTorch MB", 10}};

inline std::string gpu_table_row(const GpuResult& r) {
  using detail::digits;
  return detail::row(gpu_columns, {r.job, r.precision, digits(r.ours.ms, 4), digits(r.with_cudnn.ms, 4),
                                   digits(r.pytorch.ms, 4), digits(r.compiled.ms, 4), digits(r.graphed.ms, 4),
                                   digits(r.ratio(), 3), digits(r.graphed_ratio(), 3), digits(r.fastest_ratio(), 3),
                                   detail::percent(r.limit_share()) + " " + r.limit(), digits(r.ours.megabytes, 3),
                                   digits(r.pytorch.megabytes, 3)});
}

inline std::string gpu_table(const std::vector<GpuResult>& results) {
  std::string text = table_head(gpu_columns);
  for (const GpuResult& r : results)
    text += gpu_table_row(r);
  return text;
}

// The text under the table.
inline std::string gpu_notes(const Limits& limits, const std::vector<GpuResult>& results) {
  using detail::digits;
  std::string text = gpunet::concat("- limits: copy ", digits(limits.copy_gigabytes, 3), " GB/s, multiply-adds ",
                                    digits(limits.exact_gflops / 1e3, 3), " TFLOP/s in float, ",
                                    digits(limits.tf32_gflops / 1e3, 3), " by tf32 instructions of a warp\n");
  for (const GpuResult& r : results) {
    std::string line;
    if (!r.variant.empty()) line += "; PyTorch: " + r.variant;
    if (r.unsteady()) line += "; DISTURBED by other programs, measure again";
    if (r.values_differ()) line += gpunet::concat("; THE SIDES DIFFER: ", r.ours.value, " and ", r.pytorch.value);
    if (r.cudnn_differs())
      line += gpunet::concat("; cuDNN MAKES ANOTHER LOSS: ", r.ours.value, " and ", r.with_cudnn.value);
    line += r.trouble;
    if (!line.empty()) text += gpunet::concat("- ", r.job, ", ", r.precision, line, "\n");
  }
  return text;
}

// How the goals stand.
struct Verdict {
  int held = 0, missed = 0, unmeasured = 0;
  std::string text;  // a line for each
};

inline Verdict judge(const std::vector<GpuResult>& results) {
  Verdict verdict;
  const auto add = [&verdict](const GpuResult& r, double goal, double ratio, const char* whose) {
    if (!std::isfinite(goal)) return;
    const bool is_known = std::isfinite(ratio),
               holds = is_known && ratio >= goal && !r.values_differ() && !r.cudnn_differs();
    ++(holds ? verdict.held : is_known ? verdict.missed : verdict.unmeasured);
    verdict.text += gpunet::concat("- ", r.job, ", ", r.precision, ": at least ",
                                   detail::digits(goal, goal < 2 ? 2 : 1), " times as fast as PyTorch's ", whose,
                                   ": ", is_known ? detail::digits(ratio, 3) : "not measured",
                                   holds      ? ", holds\n"
                                   : is_known ? ", DOES NOT HOLD\n"
                                              : "\n");
  };
  for (const GpuResult& r : results) {
    add(r, r.goal, r.ratio(), "eager step");
    add(r, r.graphed_goal, r.graphed_ratio(), "CUDA-graphed step");
    add(r, r.fastest_goal, r.fastest_ratio(), "fastest step");
    if (std::isfinite(r.with_cudnn.ms)) add(r, r.fastest_goal, r.cudnn_ratio(), "fastest step, with cuDNN");
  }
  return verdict;
}

inline std::string gpu_json(const Surroundings& s, const Limits& limits, const std::vector<GpuResult>& results) {
  using detail::number, detail::in_quotes;
  const Verdict verdict = judge(results);
  std::string text = "{\"jobs\": [";
  for (const GpuResult& r : results) {
    text += gpunet::concat(&r == results.data() ? "\n" : ",\n", "  {\"job\": ", in_quotes(r.job),
                           ", \"precision\": ", in_quotes(r.precision), ", \"ours_ms\": ", number(r.ours.ms),
                           ", \"with_cudnn_ms\": ", number(r.with_cudnn.ms),
                           ", \"eager_ms\": ", number(r.pytorch.ms), ", \"compiled_ms\": ", number(r.compiled.ms),
                           ", \"graphed_ms\": ", number(r.graphed.ms), ", \"eager_goal\": ", number(r.goal));
    text += gpunet::concat(
        ", \"graphed_goal\": ", number(r.graphed_goal), ", \"fastest_goal\": ", number(r.fastest_goal),
        ", \"limit_share\": ", number(r.limit_share()), ", \"limit\": ", in_quotes(r.limit()),
        ", \"ours_mb\": ", number(r.ours.megabytes), ", \"pytorch_mb\": ", number(r.pytorch.megabytes));
    text += gpunet::concat(
        ", \"ours_loss\": ", number(r.ours.value), ", \"pytorch_loss\": ", number(r.pytorch.value),
        ", \"pytorch_variant\": ", in_quotes(r.variant), ", \"trouble\": ", in_quotes(r.trouble), "}");
  }
  text += gpunet::concat("\n], \"copy_gigabytes_per_s\": ", number(limits.copy_gigabytes),
                         ", \"exact_gflops\": ", number(limits.exact_gflops),
                         ", \"tf32_gflops\": ", number(limits.tf32_gflops), ", \"goals_held\": ", verdict.held,
                         ", \"goals_missed\": ", verdict.missed, ", \"goals_unmeasured\": ", verdict.unmeasured);
  return text + gpunet::concat(", \"date\": ", in_quotes(s.date), ", \"gpu\": ", in_quotes(s.processor),
                               ", \"ours\": ", in_quotes(s.compiler), ", \"pytorch\": ", in_quotes(s.opponent),
                               "}\n");
}

inline std::string gpu_markdown(const Surroundings& s, const Limits& limits,
                                const std::vector<GpuResult>& results) {
  return gpunet::concat("- Date: ", s.date, "\n- GPU: ", s.processor, "\n- Ours: ", s.compiler,
                        "\n- Opponent: ", s.opponent, "\n\n", gpu_table(results), "\n", gpu_notes(limits, results),
                        "\nGoals:\n\n", judge(results).text);
}

}  // namespace bench::gpu
