// Results as a table and as JSON.
#pragma once

#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/error.hpp>

#include "result.hpp"

namespace bench {

// The conditions that the numbers depend on.
struct Surroundings {
  std::string date, processor, compiler;
  std::string opponent;   // PyTorch
  std::string onnx = {};  // ONNX Runtime; empty without it
};

namespace detail {

// A number with so many significant digits, "-" if it is unknown.
inline std::string digits(double value, int significant) {
  if (!std::isfinite(value)) return "-";
  char text[32];
  const int before =
      value == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
  std::snprintf(text, sizeof text, "%.*f", std::max(0, significant - before), value);
  return text;
}

inline std::string percent(double share) {
  return std::isfinite(share) ? digits(100 * share, 2) + " %" : "-";
}

struct Column {
  const char* title;
  std::size_t width;
};

// The last three are left out without ONNX Runtime.
inline constexpr Column all_columns[] = {{"job", 20},        {"threads", 7},       {"ours ms", 8},
                                         {"PyTorch ms", 10}, {"ratio", 6},         {"goal", 5},
                                         {"x 1 thread", 10}, {"of the limit", 14}, {"ours MB", 7},
                                         {"PyTorch MB", 10}, {"ONNX ms", 7},       {"ratio", 6},
                                         {"goal", 5}};

// The first column is text, the others are numbers.
inline std::string row(std::span<const Column> titles, const std::vector<std::string>& cells) {
  std::string line = "|";
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const std::size_t gap =
        titles[i].width > cells[i].size() ? titles[i].width - cells[i].size() : 0;
    const std::string space(gap, ' ');
    line += " " + (i == 0 ? cells[i] + space : space + cells[i]) + " |";
  }
  return line + "\n";
}

}  // namespace detail

inline std::span<const detail::Column> columns(bool with_onnx) {
  return std::span(detail::all_columns).first(std::size(detail::all_columns) - (with_onnx ? 0 : 3));
}

inline std::string table_head(std::span<const detail::Column> titled) {
  std::vector<std::string> titles;
  std::string rule = "|";
  for (const detail::Column& column : titled) {
    rule += titles.empty() ? std::string(column.width + 2, '-') + "|"
                           : std::string(column.width + 1, '-') + ":|";
    titles.push_back(column.title);
  }
  return detail::row(titled, titles) + rule + "\n";
}

inline std::string table_row(const Result& r, bool with_onnx) {
  using detail::digits;
  const auto goal = [](double value) {
    return digits(value, value != std::floor(value) ? 3 : 1);
  };
  return detail::row(columns(with_onnx),
                     {r.job, digits(r.threads, 1), digits(r.ours.ms, 4), digits(r.pytorch.ms, 4),
                      digits(r.ratio(), 3), goal(r.goal), digits(r.scaling(), 3),
                      detail::percent(r.limit_share()) + " " + r.limit(),
                      digits(r.ours.megabytes, 3), digits(r.pytorch.megabytes, 3),
                      digits(r.onnx.ms, 4), digits(r.onnx_ratio(), 3), goal(r.onnx_goal)});
}

// Returns the text under a table, with information that the table does not show.
inline std::string notes(const std::vector<Result>& results) {
  std::string text;
  double best = 0;  // peak of a thread
  for (const Result& r : results)
    best = std::fmax(best, r.peak_gflops / r.threads);
  for (const Result& r : results) {
    text += gpunet::concat("- ", r.job, ", ", r.threads, r.threads == 1 ? " thread" : " threads",
                           ": peak ", detail::digits(r.peak_gflops, 3), " GFLOP/s, copy ",
                           detail::digits(r.copy_gigabytes, 3), " GB/s");
    if (!r.variant.empty())
      text += gpunet::concat("; PyTorch: ", r.variant, ", ",
                             detail::digits(r.pytorch.process_megabytes, 3), " MB in all (ours ",
                             detail::digits(r.ours.process_megabytes, 3), ")");
    if (!r.onnx_variant.empty()) text += "; ONNX Runtime: " + r.onnx_variant;
    if (r.peak_gflops / r.threads < 0.75 * best || r.unsteady())
      text += "; DISTURBED by other programs, measure again";
    for (const Side& side : {r.pytorch, r.onnx})
      if (r.values_differ(side))
        text += gpunet::concat("; THE SIDES DIFFER: ", r.ours.value, " and ", side.value);
    text += "\n";
  }
  return text;
}

inline std::string markdown(const Surroundings& s, const std::vector<Result>& results) {
  std::string text = gpunet::concat(
      "# Benchmarks\n\nWritten by `./scripts/bench.sh --markdown FILE`; "
      "[benchmarks/README.md](../benchmarks/README.md) explains the tables.\n\n- Date: ",
      s.date, "\n- Processor: ", s.processor, "\n- Ours: ", s.compiler,
      "\n- Opponent: ", s.opponent, s.onnx.empty() ? "" : " and ", s.onnx, "\n\n",
      table_head(columns(!s.onnx.empty())));
  for (const Result& r : results)
    text += table_row(r, !s.onnx.empty());
  return text + "\nThe limits in the same run, and how PyTorch was fastest:\n\n" + notes(results);
}

// Returns the sections of a page after the one that markdown() writes: other scripts fill them.
inline std::string other_sections(std::string_view page) {
  const auto begin = page.find("\n## ");
  return begin == page.npos ? "" : std::string(page.substr(begin));
}

namespace detail {

inline std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  }
  return out + "\"";
}

// JSON knows no NaN.
inline std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace detail

inline std::string json(const Surroundings& s, const std::vector<Result>& results) {
  using detail::number, detail::in_quotes;
  std::string text = "{\"jobs\": [";
  for (const Result& r : results) {
    text += gpunet::concat(
        &r == results.data() ? "\n" : ",\n", "  {\"job\": ", in_quotes(r.job),
        ", \"threads\": ", r.threads, ", \"ours_ms\": ", number(r.ours.ms),
        ", \"pytorch_ms\": ", number(r.pytorch.ms), ", \"ratio\": ", number(r.ratio()),
        ", \"limit_share\": ", number(r.limit_share()), ", \"goal\": ", number(r.goal));
    text += gpunet::concat(
        ", \"limit\": ", in_quotes(r.limit()), ", \"peak_gflops\": ", number(r.peak_gflops),
        ", \"copy_gigabytes_per_s\": ", number(r.copy_gigabytes),
        ", \"scaling\": ", number(r.scaling()), ", \"ours_mb\": ", number(r.ours.megabytes),
        ", \"pytorch_mb\": ", number(r.pytorch.megabytes));
    text += gpunet::concat(", \"ours_process_mb\": ", number(r.ours.process_megabytes),
                           ", \"pytorch_process_mb\": ", number(r.pytorch.process_megabytes),
                           ", \"same_value\": ", r.values_differ() ? "false" : "true",
                           ", \"pytorch_variant\": ", in_quotes(r.variant));
    text += gpunet::concat(", \"onnx_ms\": ", number(r.onnx.ms),
                           ", \"onnx_ratio\": ", number(r.onnx_ratio()),
                           ", \"onnx_goal\": ", number(r.onnx_goal),
                           ", \"onnx_variant\": ", in_quotes(r.onnx_variant), "}");
  }
  return text + gpunet::concat("\n], \"date\": ", in_quotes(s.date),
                               ", \"processor\": ", in_quotes(s.processor),
                               ", \"ours\": ", in_quotes(s.compiler),
                               ", \"pytorch\": ", in_quotes(s.opponent),
                               ", \"onnx\": ", in_quotes(s.onnx), "}\n");
}

}  // namespace bench
