// The command line of 03_cpu_vs_gpu.
#pragma once

#include <string>
#include <vector>

#include <gpunet/plot.hpp>
#include <gpunet/train/profile.hpp>

#include "example_images.hpp"
#include "options.hpp"

namespace examples {

struct CpuVsGpuOptions {
  using index_t = gpunet::index_t;

  Options options;
  std::string data = options.data("the CIFAR-10 binary files");
  index_t batch_size = options.batch_size(256);
  index_t images = options.get("--images", "N", "how many built-in images an epoch has",
                               index_t{10000}, index_t{4});
  index_t most_batch_size = options.get("--most-batch-size", "N", "where the sweep from 4 on ends",
                                        index_t{4096}, index_t{4});
  index_t steps =
      options.get("--steps", "N", "steps of the sweep at each size", index_t{10}, index_t{1});
  std::string logs =
      options.get("--logs", "DIR", "where the losses go, for TensorBoard", "runs/03_cpu_vs_gpu");
  std::string picture =
      options.get("--picture", "FILE", "where the picture goes, .svg or .png", "cpu_vs_gpu.svg");

  CpuVsGpuOptions(int argc, char** argv)
      : options(argc, argv, "03_cpu_vs_gpu",
                "Trains a network on every device and shows where the time goes.") {
    options.finish();
    gpunet::plot::probe(picture);
    gpunet::require(!logs.empty(),
                    "03_cpu_vs_gpu: --logs is empty (want the name of a folder, as runs/first)");
    tell_of_real_images(data, "cifar10");
  }
};

// The shares of a step's parts at each batch size, as a plot.
class StepParts {
 public:
  void add(gpunet::index_t batch_size, const gpunet::train::StepTimes& times) {
    sizes_.push_back(std::to_string(batch_size));
    waiting_.values.push_back(100 * times.waiting / times.total());
    copying_.values.push_back(100 * times.copying / times.total());
    computing_.values.push_back(100 * times.computing / times.total());
  }
  gpunet::plot::Scene picture() const {
    return gpunet::plot::stacked_bars(sizes_, {computing_, copying_, waiting_},
                                      {{"A step", "batch size", "%"}});
  }

 private:
  std::vector<std::string> sizes_;
  gpunet::plot::Part computing_{"computing", {}}, copying_{"copying", {}},
      waiting_{"waiting for data", {}};
};

}  // namespace examples
