// Compares gpunet with PyTorch and ONNX Runtime: prints a table of jobs and threads, all of them by
// default.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "arguments.hpp"
#include "measure.hpp"
#include "report.hpp"
#include "worker.hpp"

namespace {

using namespace bench;

// Asks the opponents' side for its configuration. Prints the answer; stores the environment that it
// needs, and the opponents' names and versions.
void check_opponents(Plan& plan, Surroundings& surroundings) {
  Command command{plan.opponent, {plan.cores[0]}, {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"}};
  command.arguments.push_back("check");
  Child child(command);
  surroundings.opponent = child.read_line();
  std::printf("%s\n", surroundings.opponent.c_str());
  for (std::string line; (line = child.read_line()) != "end";) {
    if (line.rfind("use ", 0) == 0) {
      plan.opponent_environment.push_back(line.substr(4));
      continue;
    }
    if (line.rfind("ONNX Runtime ", 0) == 0) surroundings.onnx = line;
    std::printf("  %s\n", line.c_str());
  }
  plan.has_onnx = !surroundings.onnx.empty();
}

void write(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  gpunet::io::write_file_atomically(path, text);
  std::printf("written: %s\n", path.c_str());
}

int run(const Arguments& arguments, const std::vector<int>& cores) {
  Plan plan{
      arguments.repetitions(), arguments.repetition_ms(), "/proc/self/exe", {}, {}, false, cores};
  Surroundings surroundings{today(), processor_name(), gpunet::concat("gpunet, ", compiler()),
                            "none"};
  std::printf("%s, %s\n", surroundings.processor.c_str(), surroundings.compiler.c_str());
  if (arguments.python.empty()) {
    std::printf("no PyTorch to compare with: only ours is measured\n");
  } else {
    plan.opponent = {arguments.python, GPUNET_BENCHMARKS_DIR "/opponent.py"};
    check_opponents(plan, surroundings);
  }

  std::printf("\n%s", table_head(columns(plan.has_onnx)).c_str());
  std::vector<Result> results;
  std::map<std::string, double> one_thread;
  std::map<int, Opponents> opponents;  // by threads
  for (const int threads : arguments.threads)
    opponents[threads] = start_opponents(plan, threads);
  for (const std::string& job : arguments.jobs)
    for (const int threads : arguments.threads) {
      Result result = measure(plan, find_job(job), threads, opponents[threads]);
      if (threads == 1) one_thread[job] = result.ours.ms;
      if (threads > 1 && one_thread.count(job)) result.one_thread_ms = one_thread[job];
      std::printf("%s", table_row(result, plan.has_onnx).c_str());
      std::fflush(stdout);
      results.push_back(result);
    }
  std::printf("\n%s", notes(results).c_str());
  write(arguments.json, json(surroundings, results));
  std::ifstream page(arguments.markdown);
  const std::string old_page(std::istreambuf_iterator<char>(page), {});
  write(arguments.markdown, markdown(surroundings, results) + other_sections(old_page));

  for (const Result& result : results)
    gpunet::require(!result.values_differ(), "bench: in ", result.job,
                    " the sides do not compute the same (see above): the times cannot be compared");
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 4 && std::strcmp(argv[1], "worker") == 0) {
    serve(argv[3], std::stoi(argv[2]));
    return 0;
  }
  const std::vector<int> cores = usable_cores();
  const Arguments arguments = parse_arguments(argc, argv, jobs(), static_cast<int>(cores.size()));
  return arguments.dry_run ? 0 : run(arguments, cores);
} catch (const std::exception& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
