// A small training inside another program: threads of a device, workers of a loader, images.
#pragma once

#include <vector>

#include <gpunet/data/random_transforms.hpp>
#include <gpunet/extras/data/digits.hpp>
#include <gpunet/gpunet.hpp>

namespace guest {

using Net =
    gpunet::nn::Sequential<gpunet::nn::Input<1, 28, 28>, gpunet::nn::Conv2d<4, 5>, gpunet::nn::ReLU,
                           gpunet::nn::MaxPool2d<4>, gpunet::nn::Flatten, gpunet::nn::Linear<10>>;

// Returns the loss of each of 16 steps on `device`, then the parameters.
inline std::vector<float> train(gpunet::Host& device, int workers) {
  using namespace gpunet;
  manual_seed(3);
  Model<Net, Host> net(device);
  nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.05f, .momentum = 0.9f});
  const data::Digits digits(64, 1,
                            data::Compose(data::RandomCrop(28, {.padding = 1}), data::ToTensor{}));
  data::DataLoader loader(digits, {.batch_size = 16, .shuffle = true, .num_workers = workers});
  std::vector<float> numbers;
  for (int epoch = 0; epoch < 4; ++epoch)
    for (auto [inputs, labels] : loader.to(device)) {
      optimizer.zero_grad();
      auto loss = criterion(net(inputs), labels);
      loss.backward();
      optimizer.step();
      numbers.push_back(loss.item());
    }
  const auto parameters = net.parameters();
  numbers.insert(numbers.end(), parameters.data(), parameters.data() + parameters.numel());
  return numbers;
}

}  // namespace guest
