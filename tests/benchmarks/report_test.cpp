#include "../../benchmarks/report.hpp"

#include <doctest/doctest.h>

using namespace bench;

namespace {

std::vector<Result> examples() {
  Result whole;
  whole.job = "first";
  whole.threads = 2;
  whole.cost = {2e9, 1e6};
  whole.ours = {20, 19, 1.5, 4, 2.25};
  whole.goal = 8;
  whole.pytorch = {50, 49, 16, 700, 2.25};
  whole.variant = "channels_last \"fused\"";
  whole.onnx_goal = 1.25;
  whole.onnx = {30, 29, 5, 700, 2.25};
  whole.onnx_variant = "io_binding";
  whole.peak_gflops = 200;
  whole.copy_gigabytes = 10;
  whole.one_thread_ms = 38;
  Result alone = whole;
  alone.job = "second";
  alone.threads = 1;
  alone.pytorch = alone.onnx = {};
  alone.variant.clear();
  alone.onnx_variant.clear();
  alone.one_thread_ms = unknown;
  return {whole, alone};
}

const Surroundings surroundings{"2000-01-02", "a processor", "a compiler", "PyTorch 1",
                                "ONNX Runtime 2"};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace

TEST_CASE("JSON: the fields that programs read, and null for what is unknown") {
  const std::string text = json(surroundings, examples());
  CAPTURE(text);
  CHECK(text.rfind("{\"jobs\": [\n  {\"job\": \"first\", \"threads\": 2, \"ours_ms\": 20, "
                   "\"pytorch_ms\": 50, "
                   "\"ratio\": 2.5, \"limit_share\": 0.5, ",
                   0) == 0);
  CHECK(has(text,
            "},\n  {\"job\": \"second\", \"threads\": 1, \"ours_ms\": 20, \"pytorch_ms\": null, "
            "\"ratio\": null, "
            "\"limit_share\": 0.5, "));
  CHECK(has(
      text,
      "\"pytorch_variant\": \"channels_last \\\"fused\\\"\", \"onnx_ms\": 30, \"onnx_ratio\": 1.5, "
      "\"onnx_goal\": 1.25, \"onnx_variant\": \"io_binding\"}"));
  CHECK(has(text, "\"date\": \"2000-01-02\""));
  CHECK_FALSE(has(text, "nan"));
  CHECK(text.substr(text.size() - 2) == "}\n");
  CHECK(json(surroundings, {}).rfind("{\"jobs\": [\n]", 0) == 0);
}

TEST_CASE("the rows of the table are as wide as its head") {
  for (const bool with_onnx : {true, false}) {
    const std::string head = table_head(columns(with_onnx));
    const std::size_t width = head.find('\n');
    CHECK(head.size() == 2 * (width + 1));
    CHECK(has(head, "ONNX ms") == with_onnx);
    for (const Result& r : examples())
      CHECK(table_row(r, with_onnx).size() == width + 1);
  }
  const std::string row =
      "| first                |       2 |    20.00 |      50.00 |   2.50 |     8 |       1.90 |   "
      "50 % compute |   "
      " 1.50 "
      "|       16.0 |";
  CHECK(table_row(examples()[0], false) == row + "\n");
  CHECK(table_row(examples()[0], true) == row + "   30.00 |   1.50 |  1.25 |\n");
  CHECK(has(table_row(examples()[1], false), "|          - |      - |"));
}

TEST_CASE("the notes say when the sides differ") {
  std::vector<Result> results = examples();
  CHECK_FALSE(has(notes(results), "DIFFER"));
  results[0].pytorch.value = 3;
  results[0].onnx.value = 4;
  CHECK(has(notes(results), "THE SIDES DIFFER: 2.25 and 3; THE SIDES DIFFER: 2.25 and 4"));
}

TEST_CASE("the notes say when other programs ran") {
  std::vector<Result> results = examples();
  results[0].peak_gflops = 420;  // two threads
  CHECK_FALSE(has(notes(results), "DISTURBED"));
  results[0].peak_gflops = 220;
  CHECK(has(notes(results),
            "- first, 2 threads: peak 220 GFLOP/s, copy 10.0 GB/s; PyTorch: channels_last"));
  CHECK(has(notes(results), "DISTURBED by other programs"));
}

TEST_CASE("the notes say when half of the repetitions were slow") {
  std::vector<Result> results = {examples()[0]};
  CHECK_FALSE(has(notes(results), "DISTURBED"));
  results[0].onnx.fastest_ms = 20;
  CHECK(has(notes(results), "DISTURBED"));
  results[0].onnx.fastest_ms = 30;
  results[0].pytorch.fastest_ms = 30;
  CHECK(has(notes(results), "DISTURBED"));
}

TEST_CASE("Markdown names what the numbers depend on") {
  const std::string text = markdown(surroundings, examples());
  for (const char* part :
       {"2000-01-02", "a processor", "a compiler", "PyTorch 1 and ONNX Runtime 2", "| first ",
        "| second ", "ONNX Runtime: io_binding"})
    CHECK(has(text, part));
  CHECK_FALSE(has(markdown({"", "", "", "PyTorch 1"}, examples()), "ONNX ms"));
  CHECK(other_sections(text).empty());
  CHECK(other_sections(text + "\n## Other\n\ntext\n\n## More\n") ==
        "\n## Other\n\ntext\n\n## More\n");
}
