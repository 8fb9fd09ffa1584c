// A program of a user: a small network learns which corners of a square are alike (XOR), on the device that there
// is.
#include <cstdio>

#include <gpunet/gpunet.hpp>

using namespace gpunet;

using Net = nn::Sequential<nn::Input<2>, nn::Linear<8>, nn::ReLU, nn::Linear<2>>;

// Trains for 200 steps and returns the last loss.
template <Device D>
float train_network(D& device) {
  manual_seed(0);
  Model<Net, D> net(device);
  nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.1f, .momentum = 0.9f});

  const Tensor<float, D> corners(device, {4, 2}, {0, 0, 0, 1, 1, 0, 1, 1});
  const Tensor<label_t, D> labels(device, {4}, {0, 1, 1, 0});
  float last = 0;
  for (int step = 0; step < 200; ++step) {
    optimizer.zero_grad();
    auto loss = criterion(net(corners), labels);
    loss.backward();
    optimizer.step();
    last = loss.item();
  }
  return last;
}

int main() {
  const float loss = with_device("auto", [](auto& device) { return train_network(device); });
  std::printf("the loss after 200 steps is %g\n", static_cast<double>(loss));
  return loss < 0.05f ? 0 : 1;
}
