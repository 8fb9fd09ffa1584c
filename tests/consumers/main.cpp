// A program of a user: a small network learns which corners of a square are alike (XOR), on the
// device that there is.
#include <cstdio>

#include <gpunet/gpunet.hpp>
#ifdef WITH_ZLIB
#include <gpunet/io/zlib.hpp>
#endif
#ifdef WITH_STB
#include <gpunet/io/stb_image.hpp>
#endif

using namespace gpunet;

using Net = nn::Sequential<nn::Input<2>, nn::Linear<8>, nn::ReLU, nn::Linear<2>>;

// Trains for 200 steps; whether that ends with a small loss.
template <Device D>
bool train_network(D& device) {
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
  std::printf("%s: the loss after 200 steps is %g\n", device.name().c_str(),
              static_cast<double>(last));
  return last < 0.05f;
}

int main() {
#if GPUNET_CUDA
#ifndef WANT_CUDNN
#define WANT_CUDNN 0
#endif
  std::printf("cuDNN %d\n", static_cast<int>(backends::cudnn::version()));
  if (backends::cudnn::is_available() != WANT_CUDNN) return 1;
#endif
#ifdef WITH_ZLIB
  if (!io::deflate_codec()) return 2;
#endif
#ifdef WITH_STB
  if (!io::other_images()) return 3;
#endif
  return with_device("auto", [](auto& device) { return train_network(device); }) ? 0 : 1;
}
