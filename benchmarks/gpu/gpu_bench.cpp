// Measures training steps on a GPU beside PyTorch's on the same one: a table, and how the goals stand.
#include <cstdio>
#include <cstring>
#include <unistd.h>

#include <gpunet/io/file.hpp>

#include "../../examples/support/options.hpp"
#include "../machine.hpp"
#include "../worker.hpp"
#include "events.cuh"
#include "limits.cuh"
#include "measure.hpp"

namespace {

using namespace bench;
using namespace bench::gpu;

struct GpuMemory {
  Cuda& device;
  void reset() const { gpunet::cuda::reset_peak_memory_stats(device); }
  double peak() const { return static_cast<double>(gpunet::cuda::max_memory_allocated(device)) / 1e6; }
  double most() const { return static_cast<double>(gpunet::cuda::memory_reserved(device)) / 1e6; }
};

// The work of that name: a job, "peak", or "copy". Small on what is no GPU but the simulator of one.
std::unique_ptr<Work> make_gpu_work(const std::string& name, Cuda& device) {
  const bool tiny = std::getenv("GPUNET_BENCH_TINY");
  if (name == "peak") return std::make_unique<TimedByEvents<PeakOnCuda>>(device, tiny ? 2 : 4096);
  if (name == "copy") return std::make_unique<TimedByEvents<CopyOnCuda>>(device, index_t{tiny ? 1 << 12 : 1 << 30});
  return find_gpu_job(name).make(device);
}

// "worker PRECISION SECONDS NAME"
int serve_on_gpu(char** argv) {
  ::alarm(static_cast<unsigned>(std::stoi(argv[3])));  // a kernel that hangs costs this worker alone
  const bool tf32 = std::strcmp(argv[2], "tf32") == 0;
  Cuda device(0, {.precision = tf32 ? gpunet::Precision::tf32 : gpunet::Precision::exact});
  serve(*make_gpu_work(argv[4], device), GpuMemory{device});
  return 0;
}

std::string name_of_gpu() {
  cudaDeviceProp p{};
  int driver = 0, runtime = 0;
  gpunet::check(cudaGetDeviceProperties(&p, 0));
  gpunet::check(cudaDriverGetVersion(&driver));
  gpunet::check(cudaRuntimeGetVersion(&runtime));
  return gpunet::concat(p.name, ", compute capability ", p.major, ".", p.minor, ", ", p.multiProcessorCount,
                        " multiprocessors, driver for CUDA ", gpunet::detail::cuda_version(driver), ", runtime ",
                        gpunet::detail::cuda_version(runtime));
}

struct GpuArguments {
  index_t seconds = 240, repetitions = 7, repetition_ms = 20;
  std::vector<std::string> jobs;
  std::string json, markdown, python;
};

GpuArguments parse(int argc, char** argv) {
  examples::Options options(argc, argv, "gpu_bench", "Measures training steps on a GPU beside PyTorch's.");
  GpuArguments a;
  a.seconds =
      options.get("--seconds", "N", "the most time to take; what is left out then is said", a.seconds, index_t{1});
  a.repetitions = options.get("--repetitions", "N", "turns of each side", a.repetitions, index_t{1});
  a.repetition_ms = options.get("--ms", "N", "length of a repetition", a.repetition_ms, index_t{0});
  a.jobs = options.all<std::string>("--job", "NAME", "only this job (may be given more than once)");
  a.json = options.get("--json", "FILE", "write the results as JSON", "");
  a.markdown = options.get("--markdown", "FILE", "write the table as Markdown", "");
  a.python = options.get("--python", "PROGRAM", "a Python whose PyTorch has CUDA, to compare with", "");
  options.finish();
  for (const std::string& job : a.jobs)
    find_gpu_job(job);
  return a;
}

// Asks PyTorch what it is, and loads it once for each way.
std::string start_opponents(GpuPlan& gpu) {
  std::string name = "none";
  if (gpu.plan.opponent.empty()) return name;
  try {
    Command command{gpu.plan.opponent, {}, {gpunet::concat("GPUNET_BENCH_SECONDS=", gpu.deadline.for_a_worker())}};
    command.arguments.insert(command.arguments.end(), {"--device", "cuda", "check"});
    name = Child(command).read_line();
    for (const char* way : {"eager", "graphed", "compiled"})
      gpu.start_opponent(way);
  } catch (const std::exception& error) {
    gpu.opponents.clear();
    name = gpunet::concat("none (", error.what(), ")");
  }
  return name;
}

int run(const GpuArguments& arguments) {
  GpuPlan gpu{{}, Deadline(static_cast<double>(arguments.seconds)), {}};
  gpu.plan.repetitions = static_cast<int>(arguments.repetitions);
  gpu.plan.repetition_ms = static_cast<double>(arguments.repetition_ms);
  gpu.plan.program = "/proc/self/exe";
  if (!arguments.python.empty()) gpu.plan.opponent = {arguments.python, GPUNET_BENCHMARKS_DIR "/opponent.py"};
  const std::size_t cudnn = gpunet::backends::cudnn::version();
  const std::string with_cudnn = cudnn ? gpunet::concat(", cuDNN ", cudnn) : ", no cuDNN";
  const Surroundings surroundings{today(), name_of_gpu(), gpunet::concat("gpunet, ", compiler(), with_cudnn),
                                  start_opponents(gpu)};
  std::printf("%s\n%s\nPyTorch: %s\n\n", surroundings.processor.c_str(), surroundings.compiler.c_str(),
              surroundings.opponent.c_str());

  const Limits limits = measure_limits(gpu);
  std::vector<GpuResult> results;
  std::string cut;
  const auto write = [&] {  // after each job: what is known is never lost
    if (!arguments.json.empty())
      gpunet::io::write_file_atomically(arguments.json, gpu_json(surroundings, limits, results));
    if (!arguments.markdown.empty())
      gpunet::io::write_file_atomically(arguments.markdown, gpu_markdown(surroundings, limits, results));
  };
  constexpr double for_a_job = 10, for_compiling = 40;  // seconds that should be left
  for (const std::string precision : {"exact", "tf32"})
    for (const GpuJob& job : gpu_jobs()) {
      const bool wanted =
          arguments.jobs.empty() || std::count(arguments.jobs.begin(), arguments.jobs.end(), job.name) > 0;
      if (!wanted || (precision == "tf32" && !job.tf32)) continue;
      if (gpu.deadline.left() < for_a_job) {
        cut += gpunet::concat(cut.empty() ? "" : ", ", job.name, " ", precision);
        continue;
      }
      results.push_back(measure_job(gpu, limits, job, precision));
      std::printf("measured: %s, %s\n", results.back().job.c_str(), precision.c_str());
      std::fflush(stdout);
      write();
    }
  for (GpuResult& r : results)
    if (gpu.opponents.count("compiled")) {
      if (gpu.deadline.left() < for_compiling) {
        cut += gpunet::concat(cut.empty() ? "" : ", ", "torch.compile of ", r.job, " ", r.precision);
        continue;
      }
      measure_compiled(gpu, r);
      write();
    }

  const Verdict verdict = judge(results);
  std::printf("\n%s\n%s", gpu_table(results).c_str(), gpu_notes(limits, results).c_str());
  if (!cut.empty()) std::printf("- CUT, the time was over: %s\n", cut.c_str());
  std::printf("\nGoals: %d hold, %d do not, %d not measured\n%s", verdict.held, verdict.missed, verdict.unmeasured,
              verdict.text.c_str());
  bool wrong = false;
  for (const GpuResult& r : results)
    wrong |= r.values_differ() || r.cudnn_differs() || !std::isfinite(r.ours.ms);
  return wrong ? 1 : verdict.missed + verdict.unmeasured > 0 || !cut.empty() ? 3 : 0;
}

}  // namespace

// Ends with 0 if all goals hold, 3 if some do not or were not measured, 1 if ours failed or computed something else.
int main(int argc, char** argv) {
  return examples::exit_status([&] {
    if (argc == 5 && std::strcmp(argv[1], "worker") == 0) return serve_on_gpu(argv);
    const GpuArguments arguments = parse(argc, argv);
    const std::string why = gpunet::cuda::why_not();
    gpunet::require(why.empty(), "gpu_bench: there is no GPU to measure: ", why);
    return run(arguments);
  });
}
