// Measures training steps on a GPU beside PyTorch's on the same one: tables, correctness, and the
// goals.
#include <cstdio>
#include <cstring>
#include <sstream>
#include <unistd.h>

#include <gpunet/device/cuda/available.cuh>
#include <gpunet/io/atomic_file.hpp>

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
  void reset() const { device.reset_peak_memory_stats(); }
  double peak() const { return static_cast<double>(device.max_memory_allocated()) / 1e6; }
  double most() const { return static_cast<double>(device.memory_reserved()) / 1e6; }
};

// The work of that name: a job, "peak", or "copy". The last two are small with GPUNET_BENCH_TINY,
// for a simulator.
std::unique_ptr<Work> make_gpu_work(const std::string& name, Cuda& device) {
  const bool tiny = std::getenv("GPUNET_BENCH_TINY");
  if (name == "peak") return std::make_unique<TimedByEvents<PeakOnCuda>>(device, tiny ? 2 : 4096);
  if (name == "copy")
    return std::make_unique<TimedByEvents<CopyOnCuda>>(device, index_t{tiny ? 1 << 12 : 1 << 30});
  return find_gpu_job(name).make(device);
}

// Work that ends this process when an answer takes longer than `seconds`: a kernel that hangs costs
// one worker.
class TimeLimited : public Work {
 public:
  TimeLimited(std::unique_ptr<Work> work, unsigned seconds)
      : work_(std::move(work)), seconds_(seconds) {}

  void start() override {
    const Alarm alarm(seconds_);
    work_->start();
  }
  void run(index_t steps) override {
    const Alarm alarm(seconds_);
    work_->run(steps);
  }
  double time(index_t steps) override {
    const Alarm alarm(seconds_);
    return work_->time(steps);
  }
  double value() const override { return work_->value(); }

 private:
  struct Alarm {
    explicit Alarm(unsigned seconds) { ::alarm(seconds); }
    ~Alarm() { ::alarm(0); }
  };

  std::unique_ptr<Work> work_;
  unsigned seconds_;
};

// "worker PRECISION SECONDS NAME"
int serve_on_gpu(char** argv) {
  const auto seconds = static_cast<unsigned>(std::stoi(argv[3]));
  ::alarm(seconds);  // CUDA may hang from its first call
  const bool tf32 = std::strcmp(argv[2], "tf32") == 0;
  Cuda device(0, {.precision = tf32 ? gpunet::Precision::tf32 : gpunet::Precision::exact});
  TimeLimited work(make_gpu_work(argv[4], device), seconds);
  ::alarm(0);
  serve(work, GpuMemory{device});
  return 0;
}

// "580.159.04, "; empty where the driver does not say.
std::string driver_version() {
  std::istringstream words(field_of("/proc/driver/nvidia/version", "NVRM version"));
  for (std::string word; words >> word;)
    if ('0' <= word[0] && word[0] <= '9' && word.find('.') != word.npos) return word + ", ";
  return {};
}

std::string name_of_gpu() {
  cudaDeviceProp p{};
  int driver = 0, runtime = 0;
  gpunet::check(cudaGetDeviceProperties(&p, 0));
  gpunet::check(cudaDriverGetVersion(&driver));
  gpunet::check(cudaRuntimeGetVersion(&runtime));
  return gpunet::concat(p.name, ", compute capability ", p.major, ".", p.minor, ", ",
                        p.multiProcessorCount, " multiprocessors, driver ", driver_version(),
                        "for CUDA ", gpunet::detail::cuda_version(driver), ", runtime ",
                        gpunet::detail::cuda_version(runtime));
}

struct GpuArguments {
  index_t seconds = 540, repetitions = 7, repetition_ms = 50;
  bool dry_run = false;
  std::vector<std::string> jobs;
  std::string lines, json, markdown, python;
};

GpuArguments parse(int argc, char** argv) {
  examples::Options options(argc, argv, "gpu_bench",
                            "Measures training steps on a GPU beside PyTorch's.");
  GpuArguments a;
  a.seconds =
      options.get("--seconds", "N", "time limit; lines left out are listed", a.seconds, index_t{1});
  a.repetitions =
      options.get("--repetitions", "N", "turns of each side", a.repetitions, index_t{1});
  a.repetition_ms = options.get("--ms", "N", "length of a repetition", a.repetition_ms, index_t{0});
  a.jobs = options.all<std::string>("--job", "NAME", "only this job (may be given more than once)");
  a.lines = options.get("--lines", "WHICH",
                        "goals: only those that have goals; rest: only the others", "all");
  a.json = options.get("--json", "FILE", "write the results as JSON", "");
  a.markdown = options.get("--markdown", "FILE", "write the tables as Markdown", "");
  a.python =
      options.get("--python", "PROGRAM", "a Python whose PyTorch has CUDA, to compare with", "");
  a.dry_run = options.flag("--dry-run",
                           "only list the lines, and write tables without numbers; needs no GPU");
  options.finish();
  gpunet::require(a.lines == "all" || a.lines == "goals" || a.lines == "rest",
                  "gpu_bench: --lines ", a.lines, " (want all, goals or rest)");
  for (const std::string& job : a.jobs)
    find_gpu_job(job);
  return a;
}

// A run: its lines are filled one after another, and the files are written after each, so that
// nothing known is lost.
class GpuRun {
 public:
  explicit GpuRun(const GpuArguments& arguments)
      : arguments_(arguments),
        gpu_{{}, Deadline(static_cast<double>(arguments.seconds)), {}},
        results_(plan_lines(arguments.jobs, arguments.lines)) {
    gpu_.plan.repetitions = static_cast<int>(arguments.repetitions);
    gpu_.plan.repetition_ms = static_cast<double>(arguments.repetition_ms);
    gpu_.plan.program = "/proc/self/exe";
    if (!arguments.python.empty())
      gpu_.plan.opponent = {arguments.python, GPUNET_BENCHMARKS_DIR "/opponent.py"};
  }

  // Measures nothing.
  int list() {
    surroundings_ = {"not measured yet", "-", "-", "-"};
    for (const GpuResult& r : results_)
      std::printf("%s%s\n", r.name().c_str(),
                  r.large_convolutions ? ", without and with cuDNN" : "");
    write();
    return 0;
  }

  // Returns the exit status.
  int measure() {
    if (!gpu_.plan.opponent.empty()) load_opponents();
    limits_ = measure_limits(gpu_);  // while PyTorch is loaded
    const std::size_t cudnn = gpunet::backends::cudnn::version();
    const std::string with_cudnn = cudnn ? gpunet::concat(", cuDNN ", cudnn) : ", no cuDNN";
    surroundings_ = {today(), name_of_gpu(), gpunet::concat("gpunet, ", compiler(), with_cudnn),
                     name_of_opponent()};
    std::printf("%s\n%s\nPyTorch: %s\n\n", surroundings_.processor.c_str(),
                surroundings_.compiler.c_str(), surroundings_.opponent.c_str());

    measure_lines(true);
    for (GpuResult& r : results_)
      if (std::isfinite(r.fastest_goal)) compile(r);
    measure_lines(false);

    const Verdict verdict = judge(results_);
    std::printf("\n%s\n%s\n%s%s", gpu_tables(results_).c_str(),
                gpu_notes(limits_, results_).c_str(), gpu_verdict(verdict).c_str(),
                summary_line(verdict).c_str());
    return verdict.wrong ? 1 : 0;
  }

 private:
  // PyTorch once for each mode, all at the same time. torch.compile takes most of a minute for a
  // network: it is tried where there is a goal against PyTorch's fastest mode.
  void load_opponents() {
    gpu_.start_opponent("eager");
    gpu_.start_opponent("graphed");
    const auto has_goal = [](const GpuResult& r) {
      return std::isfinite(r.fastest_goal);
    };
    if (std::any_of(results_.begin(), results_.end(), has_goal)) gpu_.start_opponent("compiled");
  }

  // Which PyTorch it is; without one that can use the GPU there are no opponents.
  std::string name_of_opponent() {
    if (gpu_.opponents.empty()) return "none";
    std::string why;
    try {
      Child& eager = *gpu_.opponents.at("eager").child;
      const std::string answer = eager.ask("start check");
      // Behind it stands "ended".
      if (answer.rfind("PyTorch ", 0) == 0) return eager.read_line(), answer;
      why = answer;
    } catch (const gpunet::Error& error) {
      why = error.what();
    }
    gpu_.opponents.clear();
    return gpunet::concat("none (", why, ")");
  }

  void measure_lines(bool with_goals) {
    for (GpuResult& r : results_) {
      if (r.has_goal() != with_goals || gpu_.deadline.left() < seconds_of_a_line) continue;
      announce(r.name());
      measure_line(gpu_, limits_, r);
      write();
    }
  }

  void compile(GpuResult& r) {
    if (!r.is_tried || !gpu_.opponents.count("compiled")) return;
    if (gpu_.deadline.left() < seconds_of_a_compilation) {
      r.trouble += "; compiled not measured: the time was over";
      return;
    }
    announce(r.name() + ", torch.compile");
    measure_compiled(gpu_, r);
    write();
  }

  // If this run hangs, the last of these lines says where.
  static void announce(const std::string& what) {
    std::printf("measuring: %s\n", what.c_str());
    std::fflush(stdout);
  }

  void write() const {
    if (!arguments_.json.empty())
      gpunet::io::write_file_atomically(arguments_.json,
                                        gpu_json(surroundings_, limits_, results_));
    if (!arguments_.markdown.empty())
      gpunet::io::write_file_atomically(arguments_.markdown,
                                        gpu_markdown(surroundings_, limits_, results_));
  }

  // That should be left.
  static constexpr double seconds_of_a_line = 15, seconds_of_a_compilation = 60;

  GpuArguments arguments_;
  GpuPlan gpu_;
  std::vector<GpuResult> results_;
  Surroundings surroundings_;
  Limits limits_;
};

}  // namespace

// Ends with 0 if all that was measured is correct, however fast, and with 1 if not. The goals are
// in the last line.
int main(int argc, char** argv) {
  return examples::exit_status([&] {
    if (argc == 5 && std::strcmp(argv[1], "worker") == 0) return serve_on_gpu(argv);
    const GpuArguments arguments = parse(argc, argv);
    GpuRun run(arguments);
    if (arguments.dry_run) return run.list();
    const std::string why = gpunet::Cuda::why_not();
    gpunet::require(why.empty(), "gpu_bench: there is no GPU to measure: ", why);
    return run.measure();
  });
}
