// The measurements of one job, and numbers derived from them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cost.hpp"

namespace bench {

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// Returns the median: for an even count the mean of the middle two, unknown for none.
inline double median(std::vector<double> values) {
  if (values.empty()) return unknown;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// The measurements of one side. Memory: growth of the peak since before the model was made; peak of
// the whole process.
struct Side {
  double ms = unknown;          // of one step
  double fastest_ms = unknown;  // in the best repetition
  double megabytes = unknown, process_megabytes = unknown;
  double value = unknown;  // both sides must agree on it
};

// A job with one number of threads.
struct Result {
  std::string job;
  int threads = 1;
  double goal = unknown, onnx_goal = unknown;  // the smallest acceptable ratios
  Cost cost;
  Side ours, pytorch, onnx;
  // PyTorch's and ONNX Runtime's fastest variant.
  std::string variant, onnx_variant;
  double peak_gflops = unknown, copy_gigabytes = unknown;  // per second, in the same run
  double one_thread_ms = unknown;                          // ours with one thread, for comparison
  // Of the value that all sides must agree on.
  double tolerance = 1e-3;

  double ratio() const { return pytorch.ms / ours.ms; }
  double onnx_ratio() const { return onnx.ms / ours.ms; }
  // Returns the speedup over one thread.
  double scaling() const { return one_thread_ms / ours.ms; }

  double compute_ms() const { return cost.operations / peak_gflops / 1e6; }
  double memory_ms() const { return cost.bytes / copy_gigabytes / 1e6; }
  // Returns the closer of the two limits, and the share of it that is reached: 1 is as fast as the
  // machine allows.
  const char* limit() const { return memory_ms() > compute_ms() ? "memory" : "compute"; }
  double limit_share() const { return std::fmax(compute_ms(), memory_ms()) / ours.ms; }

  // Returns whether half of the repetitions of a side took much longer than its best one, as when
  // other programs run.
  bool unsteady() const {
    const auto is_unsteady = [](const Side& side) {
      return side.ms > 1.3 * side.fastest_ms;
    };
    return is_unsteady(ours) || is_unsteady(pytorch) || is_unsteady(onnx);
  }

  // Returns whether an opponent and ours disagree on the value; false if it was not measured.
  bool values_differ(const Side& side) const {
    const double allowed = tolerance * std::fmax(1, std::fabs(side.value));
    return std::isfinite(side.ms) && !(std::fabs(ours.value - side.value) <= allowed);
  }
  bool values_differ() const { return values_differ(pytorch) || values_differ(onnx); }
};

}  // namespace bench
