#include "jobs.hpp"

#include "gemm.hpp"
#include "networks.hpp"
#include "training.hpp"

namespace bench {

namespace {

template <class Net, class Optimizer, index_t Batch>
Job training(std::string_view name, double goal) {
  return {name, goal, cost_of_training(Net(), Batch, Optimizer::numbers),
          [](Host& device) -> std::unique_ptr<Work> {
            return std::make_unique<Training<Net, Optimizer>>(device, Batch);
          }};
}

template <class Net>
Job inference(std::string_view name, double goal) {
  return {name, goal, cost_of_inference(Net(), 1), [](Host& device) -> std::unique_ptr<Work> {
            return std::make_unique<Inference<Net>>(device);
          }};
}

template <index_t N>
Job product(std::string_view name) {
  return {name, 0.97, cost_of_product(N), [](Host& device) -> std::unique_ptr<Work> {
            return std::make_unique<Product>(device, N);
          }};
}

}  // namespace

const std::vector<Job>& jobs() {
  static const std::vector<Job> list{
      training<IrisNet, Adam<10>, 120>("iris", 150),
      training<LeNet, Momentum, 4>("lenet_b4", 8),
      training<LeNet, Momentum, 256>("lenet_b256", 4),
      training<CnnNet, Adam<1>, 256>("cnn_b256", 3),
      training<MlpNet, Momentum, 64>("mlp_b64", 1.5),
      training<MlpNet, Momentum, 512>("mlp_b512", 1.15),
      training<VggNet, Momentum, 32>("vgg_b32", 2),
      inference<LeNet>("lenet_infer_b1", 10),
      inference<MlpNet>("mlp_infer_b1", 10),
      product<256>("gemm_256"),
      product<1024>("gemm_1024"),
      product<2048>("gemm_2048"),
  };
  return list;
}

const Job& find_job(std::string_view name) {
  for (const Job& job : jobs())
    if (job.name == name) return job;
  throw gpunet::Error(gpunet::concat("bench: there is no job '", name, "'"));
}

}  // namespace bench
