#include <doctest/doctest.h>

#include "../../benchmarks/gpu/report.hpp"

using namespace bench;
using namespace bench::gpu;

namespace {

GpuResult example() {
  GpuResult r;
  r.job = "lenet_b4";
  r.precision = "exact";
  r.is_tried = true;
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

GpuResult example_with_cudnn() {
  GpuResult r = example();
  r.job = "vgg_b256";
  r.goal = r.graphed_goal = unknown;
  r.fastest_goal = 1;
  r.large_convolutions = r.has_cudnn = true;
  r.with_cudnn = {3, 3, 2, 3, 2.25};
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
  CAPTURE(verdict.goals);
  CHECK(verdict.held == 2);
  CHECK(verdict.missed == 1);
  CHECK(verdict.unmeasured == 1);
  CHECK(has(verdict.goals,
            "lenet_b4, exact: at least 10 times as fast as PyTorch's eager step: 12.0, holds"));
  CHECK(has(verdict.goals, "CUDA-graphed step: 1.50, does not hold"));
  CHECK(has(verdict.goals, "CUDA-graphed step: not measured"));
}

TEST_CASE("on a GPU correctness is apart from the goals") {
  GpuResult slow = example();
  slow.ours.ms = slow.ours.fastest_ms = 100;
  const Verdict missed = judge({slow});
  CHECK(missed.missed == 2);
  CHECK(missed.wrong == 0);
  CHECK(summary_line(missed) ==
        "summary: tried=1 compared=1 wrong=0 left_out=0 goals_held=0 goals_missed=2 "
        "goals_unmeasured=0\n");

  GpuResult wrong = example();
  wrong.ours.value = 3;
  const Verdict verdict = judge({wrong, example()});
  CHECK(verdict.tried == 2);
  CHECK(verdict.wrong == 1);
  CHECK(has(verdict.correctness,
            "lenet_b4, exact: WRONG; losses differ: ours 3, eager 2.25, graphed 2.25"));
  CHECK(has(gpu_notes({}, {wrong}), "LOSSES DIFFER: ours 3, eager 2.25"));
}

TEST_CASE(
    "on a GPU every side that was measured has to have the loss of ours, within the tolerance") {
  for (Side GpuResult::*side :
       {&GpuResult::graphed, &GpuResult::compiled, &GpuResult::with_cudnn}) {
    GpuResult r = example();
    r.*side = {1, 1, 1, 1, 2.25 + 0.9e-3 * 2.25};
    CHECK(r.is_correct());
    (r.*side).value = 2.25 + 1.1e-3 * 2.25;
    CHECK_FALSE(r.is_correct());
    (r.*side).value = unknown;
    CHECK_FALSE(r.is_correct());
    r.*side = {};
    CHECK(r.is_correct());
  }
  GpuResult r = example();
  r.ours.value = unknown;
  CHECK_FALSE(r.is_correct());
}

TEST_CASE("on a GPU what did not run is wrong, and what there was no time for is not") {
  GpuResult failed = example(), untried = example();
  failed.ours = {};
  failed.trouble = "; ours not measured: a reason";
  untried.ours = {};
  untried.is_tried = false;
  const Verdict verdict = judge({failed, untried});
  CHECK(verdict.wrong == 1);
  CHECK(verdict.untried == 1);
  CHECK(verdict.left_out == "lenet_b4 exact");
  CHECK(has(verdict.correctness, "WRONG; ours not measured: a reason"));
  CHECK(has(gpu_verdict(verdict), "Not measured: lenet_b4 exact\n"));

  GpuResult without = example_with_cudnn();
  without.with_cudnn = {};
  CHECK(judge({without}).wrong == 1);
  without.has_cudnn = false;  // this program has none
  CHECK(judge({without}).wrong == 0);
}

TEST_CASE("on a GPU what is measured with cuDNN has a table and a goal of its own") {
  const std::vector<GpuResult> results{example(), example_with_cudnn()};
  const Verdict verdict = judge(results);
  CHECK(verdict.held == 2);
  CHECK(verdict.missed == 2);
  CHECK(has(verdict.goals,
            "vgg_b256, exact: at least 1.0 times as fast as PyTorch's fastest step: 1.50, holds"));
  CHECK(has(verdict.goals,
            "vgg_b256, exact, with cuDNN: at least 1.0 times as fast as PyTorch's fastest step: "
            "0.500, does not hold"));

  const auto lines = with_cudnn(results);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].ours.ms == 3);
  CHECK(gpu_tables(results) == "Without cuDNN:\n\n" + gpu_table(results) +
                                   "\nWith cuDNN, the jobs with large convolutions:\n\n" +
                                   gpu_table(lines));
  CHECK(gpu_tables({example()}) == "Without cuDNN:\n\n" + gpu_table({example()}));
}

TEST_CASE("on a GPU the fastest of PyTorch's modes is that of those that were measured") {
  GpuResult r = example();
  CHECK(r.fastest_ratio() == doctest::Approx(1.5));
  r.graphed = {};
  CHECK(r.fastest_ratio() == doctest::Approx(12));
  r.pytorch = {};
  CHECK_FALSE(std::isfinite(r.fastest_ratio()));
}

TEST_CASE(
    "on a GPU the rows of the table are as wide as its head, and JSON has null for what is "
    "unknown") {
  GpuResult alone = example();
  alone.pytorch = alone.graphed = {};
  alone.trouble = "; eager not measured: \"a reason\"";
  const std::vector<GpuResult> results{example(), alone};
  const std::string head = table_head(gpu_columns);
  const std::size_t width = head.find('\n');
  for (const GpuResult& r : results)
    CHECK(gpu_table_row(r).size() == width + 1);
  // Microseconds.
  CHECK(has(gpu_table_row(example()), "|     1000 |    12000 |       1500 |           - |"));
  CHECK(has(gpu_notes({}, results), "a reason"));
  const std::string text =
      gpu_json({"2000-01-02", "a GPU", "a compiler", "PyTorch 1"}, {}, results);
  CHECK(has(text, "\"eager_ms\": null, \"compiled_ms\": null, \"graphed_ms\": null"));
  CHECK(has(text, "\\\"a reason\\\""));
  CHECK_FALSE(has(text, "nan"));
}

TEST_CASE(
    "on a GPU the Markdown says what was measured on what; before that it is tables of dashes and "
    "the goals") {
  const Surroundings surroundings{"2000-01-02", "a GPU, driver 1.2", "a compiler", "PyTorch 1"};
  const std::string text = gpu_markdown(surroundings, {}, {example()});
  CHECK(has(text,
            "- Date: 2000-01-02\n- GPU: a GPU, driver 1.2\n- Ours: a compiler\n- PyTorch: PyTorch "
            "1\n\nWithout"));
  CHECK(has(text,
            "Correctness: 1 lines measured, 1 beside PyTorch, 0 wrong\n\nGoals: 1 hold, 1 do not"));

  GpuResult empty = example();
  empty.ours = empty.pytorch = empty.graphed = {};
  empty.is_tried = false;
  const std::string nothing = gpu_markdown(surroundings, {}, {empty});
  CHECK(has(nothing, gpu_table({empty}) + "\nGoals: 0 hold, 0 do not, 2 not measured\n"));
  CHECK_FALSE(has(gpu_table_row(empty), "%"));
}
