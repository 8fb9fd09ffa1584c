#include <doctest/doctest.h>

#include "../../benchmarks/gpu/report.hpp"

using namespace bench;
using namespace bench::gpu;

namespace {

GpuResult example() {
  GpuResult r;
  r.job = "lenet_b4";
  r.precision = "exact";
  r.cost = {1e9, 1e6};
  r.ours = {1, 1, 2, 3, 2.25};
  r.pytorch = {12, 12, 4, 5, 2.25};
  r.graphed = {1.5, 1.5, 4, 5, 2.25};
  r.goal = 10;
  r.graphed_goal = 2;
  r.peak_gflops = 2000;
  r.copy_gigabytes = 4000;
  return r;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace

TEST_CASE("on a GPU each goal holds, does not hold, or is not measured") {
  GpuResult lacking = example();
  lacking.graphed = {};
  const Verdict verdict = judge({example(), lacking});
  CAPTURE(verdict.text);
  CHECK(verdict.held == 2);
  CHECK(verdict.missed == 1);
  CHECK(verdict.unmeasured == 1);
  CHECK(has(verdict.text, "lenet_b4, exact: at least 10 times as fast as PyTorch's eager step: 12.0, holds"));
  CHECK(has(verdict.text, "CUDA-graphed step: 1.50, DOES NOT HOLD"));
  CHECK(has(verdict.text, "CUDA-graphed step: not measured"));
}

TEST_CASE("on a GPU a goal does not hold where the sides differ") {
  GpuResult r = example();
  r.ours.value = 3;
  CHECK(judge({r}).held == 0);
}

TEST_CASE("on a GPU what is measured with cuDNN has a goal of its own, and has to have the same loss") {
  GpuResult r = example();
  r.goal = r.graphed_goal = unknown;
  r.fastest_goal = 1;
  CHECK(judge({r}).held == 1);
  r.with_cudnn = {3, 3, 2, 3, 2.25};
  const Verdict verdict = judge({r});
  CHECK(verdict.held == 1);
  CHECK(verdict.missed == 1);
  CHECK(has(verdict.text, "PyTorch's fastest step, with cuDNN: 0.500, DOES NOT HOLD"));
  CHECK(has(gpu_table_row(r), "3.000"));
  r.with_cudnn.value = 2.5;
  CHECK(judge({r}).held == 0);
  CHECK(has(gpu_notes({}, {r}), "cuDNN MAKES ANOTHER LOSS: 2.25 and 2.5"));
}

TEST_CASE("on a GPU the fastest of PyTorch's ways is that of those that were measured") {
  GpuResult r = example();
  CHECK(r.fastest_ratio() == doctest::Approx(1.5));
  r.graphed = {};
  CHECK(r.fastest_ratio() == doctest::Approx(12));
  r.pytorch = {};
  CHECK_FALSE(std::isfinite(r.fastest_ratio()));
}

TEST_CASE("on a GPU the rows of the table are as wide as its head, and JSON has null for what is unknown") {
  GpuResult alone = example();
  alone.pytorch = alone.graphed = {};
  alone.trouble = "; eager not measured: \"a reason\"";
  const std::vector<GpuResult> results{example(), alone};
  const std::string head = table_head(gpu_columns);
  const std::size_t width = head.find('\n');
  for (const GpuResult& r : results)
    CHECK(gpu_table_row(r).size() == width + 1);
  CHECK(has(gpu_notes({}, results), "a reason"));
  const std::string text = gpu_json({"2000-01-02", "a GPU", "a compiler", "PyTorch 1"}, {}, results);
  CHECK(has(text, "\"eager_ms\": null, \"compiled_ms\": null, \"graphed_ms\": null"));
  CHECK(has(text, "\\\"a reason\\\""));
  CHECK_FALSE(has(text, "nan"));
}
