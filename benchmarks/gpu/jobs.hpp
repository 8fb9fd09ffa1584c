// The list of what is measured on a GPU.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "../cost.hpp"
#include "../result.hpp"
#include "../work.hpp"

namespace bench::gpu {

using gpunet::Cuda;

// How many times as fast as PyTorch's modes; unknown where there is no goal.
struct Goals {
  double eager = unknown, graphed = unknown, fastest = unknown;
};

struct GpuJob {
  std::string_view name;
  Goals goals;
  bool tf32;                // whether it is measured with Precision::tf32 too
  bool large_convolutions;  // whether it is measured with cuDNN too
  Cost cost;                // of one step
  std::unique_ptr<Work> (*make)(Cuda& device);
};

// All jobs, in the order of the tables.
const std::vector<GpuJob>& gpu_jobs();

// Throws Error for a name that is not in the list.
const GpuJob& find_gpu_job(std::string_view name);

// Work on a network, timed by CUDA events. Each network is compiled in a file of its own, side by
// side: Optimizer is Momentum or Adam<...> of training.hpp. `at_once`: by Step::repeat.
template <class Net, class Optimizer>
std::unique_ptr<Work> make_training(Cuda& device, index_t batch, bool at_once);

}  // namespace bench::gpu
