// Command-line arguments.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gpunet/io/atomic_file.hpp>

#include "../examples/support/options.hpp"
#include "jobs.hpp"

namespace bench {

struct Arguments {
  bool quick = false, dry_run = false;
  std::vector<std::string> jobs;
  std::vector<int> threads;    // one, and two where there are two cores, if empty
  std::string json, markdown;  // files to write, none if empty
  std::string python;          // an interpreter with PyTorch, none if empty

  int repetitions() const { return quick ? 7 : 15; }
  double repetition_ms() const { return quick ? 50 : 100; }
};

// Reads the arguments, and throws Error for invalid ones before minutes of measuring. `cores` is
// the number of cores that this process may use.
inline Arguments parse_arguments(int argc, char** argv, const std::vector<Job>& jobs, int cores) {
  examples::Options options(argc, argv, "bench",
                            "Measures training steps, inference and matrix products beside "
                            "PyTorch's, and some beside ONNX Runtime's.");
  Arguments arguments;
  arguments.quick = options.flag(
      "--quick", "fewer and shorter repetitions, without some jobs: under three minutes");
  const bool convolutions =
      options.flag("--convolutions", "the forms of convolution instead of the usual jobs");
  const bool real = options.flag("--real", "networks of real size instead of the usual jobs");
  arguments.jobs =
      options.all<std::string>("--job", "NAME", "only this job (may be given more than once)");
  arguments.threads =
      options.all<int>("--threads", "N", "only with so many threads (may be given more than once)");
  arguments.json = options.get("--json", "FILE", "write the results as JSON", "");
  arguments.markdown = options.get("--markdown", "FILE", "write the table as Markdown", "");
  arguments.python =
      options.get("--python", "PROGRAM", "a Python with PyTorch to compare with", "");
  arguments.dry_run = options.flag("--dry-run", "only check the options");
  options.finish();

  std::string names;
  for (const Job& job : jobs)
    names += gpunet::concat(names.empty() ? "" : ", ", job.name);
  for (const std::string& name : arguments.jobs)
    gpunet::require(
        std::any_of(jobs.begin(), jobs.end(), [&](const Job& job) { return job.name == name; }),
        "bench: there is no job '", name, "', want one of ", names);
  for (const int n : arguments.threads)
    gpunet::require(
        1 <= n && n <= cores, "bench: --threads ", n, " (want 1 to ", cores,
        ", the cores of this machine that may be used: more would not measure threads)");
  for (const std::string& path : {arguments.json, arguments.markdown})
    if (!path.empty()) const gpunet::io::AtomicFile probe(path);

  // Returns whether a set is measured where no job is named.
  const auto is_wanted = [&](JobSet set) {
    if (convolutions || real)
      return (convolutions && set == JobSet::convolutions) || (real && set == JobSet::real);
    return set == JobSet::quick || (set == JobSet::usual && !arguments.quick);
  };
  if (arguments.jobs.empty())
    for (const Job& job : jobs)
      if (is_wanted(job.set)) arguments.jobs.emplace_back(job.name);
  if (arguments.threads.empty()) arguments.threads = cores > 1 ? std::vector{1, 2} : std::vector{1};
  // The others are compared with one thread.
  std::sort(arguments.threads.begin(), arguments.threads.end());
  return arguments;
}

}  // namespace bench
