// The list of benchmark jobs.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "result.hpp"
#include "work.hpp"

namespace bench {

// The smallest acceptable ratios of the opponents' times to ours. Only jobs with a goal for ONNX
// Runtime are compared with it.
struct Goals {
  double pytorch, onnx = unknown;
};

// The set of a job. --quick measures `quick`, without an option `usual` too, --convolutions and
// --real those of their name.
enum class JobSet { quick, usual, convolutions, real };

// One row of the table (for each number of threads).
struct Job {
  std::string_view name;
  Goals goals;
  Cost cost;  // of one step
  std::unique_ptr<Work> (*make)(Host& device);
  JobSet set = JobSet::quick;
};

const std::vector<Job>& jobs();

// Throws Error for a name that is not in the list.
const Job& find_job(std::string_view name);

}  // namespace bench
