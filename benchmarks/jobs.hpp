// The list of benchmark jobs.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "cost.hpp"
#include "work.hpp"

namespace bench {

// One row of the table (for each number of threads).
struct Job {
  std::string_view name;
  double goal;  // the smallest acceptable ratio of PyTorch's time to ours
  Cost cost;    // of one step
  std::unique_ptr<Work> (*make)(Host& device);
};

const std::vector<Job>& jobs();

// Throws Error for a name that is not in the list.
const Job& find_job(std::string_view name);

}  // namespace bench
