#include "jobs.hpp"

#include "../networks.hpp"
#include "../training.hpp"

namespace bench::gpu {

namespace {

template <class Net, class Optimizer, index_t Batch, bool AtOnce = false>
GpuJob training(std::string_view name, Goals goals, bool tf32) {
  return {name,
          goals,
          tf32,
          std::is_same_v<Net, VggNet>,
          cost_of_training(graph_of<Net>(), Batch, Optimizer::numbers),
          [](Cuda& device) {
            return make_training<Net, Optimizer>(device, Batch, AtOnce);
          }};
}

}  // namespace

const std::vector<GpuJob>& gpu_jobs() {
  static const std::vector<GpuJob> list{
      training<LeNet, Momentum, 4>("lenet_b4", {.eager = 10, .graphed = 2}, false),
      training<IrisNet, Adam<10>, 120, true>("iris", {.eager = 100}, false),
      training<VggNet, Momentum, 256>("vgg_b256", {.fastest = 1}, true),
      training<WideNet, Momentum, 4096>("mlp_wide_b4096", {.fastest = 1}, true),
      training<LeNet, Momentum, 256>("lenet_b256", {}, true),
      training<LeNet, Momentum, 4096>("lenet_b4096", {}, true),
      training<CnnNet, Adam<1>, 256>("cnn_b256", {}, true),
      training<MlpNet, Momentum, 512>("mlp_b512", {}, true),
      training<MlpNet, Momentum, 64>("mlp_b64", {}, false),
      training<VggNet, Momentum, 32>("vgg_b32", {}, false),
      training<IrisNet, Adam<10>, 120>("iris_single", {}, false),
  };
  return list;
}

const GpuJob& find_gpu_job(std::string_view name) {
  for (const GpuJob& job : gpu_jobs())
    if (job.name == name) return job;
  throw gpunet::Error(gpunet::concat("gpu_bench: there is no job '", name, "'"));
}

}  // namespace bench::gpu
