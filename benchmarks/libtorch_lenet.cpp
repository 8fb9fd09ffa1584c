// README's program with LibTorch instead of gpunet: the same network, loop and loader.
// scripts/compile_bench.sh only compiles it. Uses MNIST, because LibTorch has no reader of
// CIFAR-10.
#include <cstdio>
#include <torch/torch.h>

struct LeNet : torch::nn::Module {
  torch::nn::Conv2d conv1{nullptr}, conv2{nullptr};
  torch::nn::Linear fc1{nullptr}, fc2{nullptr}, fc3{nullptr};

  LeNet() {
    conv1 = register_module("conv1", torch::nn::Conv2d(1, 6, 5));
    conv2 = register_module("conv2", torch::nn::Conv2d(6, 16, 5));
    fc1 = register_module("fc1", torch::nn::Linear(16 * 4 * 4, 120));
    fc2 = register_module("fc2", torch::nn::Linear(120, 84));
    fc3 = register_module("fc3", torch::nn::Linear(84, 10));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::max_pool2d(torch::relu(conv1(x)), 2);
    x = torch::max_pool2d(torch::relu(conv2(x)), 2);
    x = torch::relu(fc1(torch::flatten(x, 1)));
    return fc3(torch::relu(fc2(x)));
  }
};

int main(int argc, char** argv) try {
  const torch::Device device(argc > 1 ? argv[1] : "cpu");
  auto train_set = torch::data::datasets::MNIST("data/mnist")
                       .map(torch::data::transforms::Normalize<>(0.5, 0.5))
                       .map(torch::data::transforms::Stack<>());
  torch::manual_seed(0);
  LeNet net;
  net.to(device);
  torch::nn::CrossEntropyLoss criterion;
  torch::optim::SGD optimizer(net.parameters(), torch::optim::SGDOptions(0.001).momentum(0.9));
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(train_set), torch::data::DataLoaderOptions().batch_size(4).workers(2));

  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = criterion(net.forward(batch.data.to(device)), batch.target.to(device));
      loss.backward();
      optimizer.step();
    }
  torch::serialize::OutputArchive archive;
  net.save(archive);
  archive.save_to("lenet.pt");
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
