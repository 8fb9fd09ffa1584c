// The command line of 10_finetune, and how long a step takes.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/formats.hpp>

#include "example_images.hpp"
#include "options.hpp"

namespace examples {

struct FinetuneOptions {
  using index_t = gpunet::index_t;

  Options options;
  std::string device = options.device(), data = options.data("the CIFAR-10 binary files");
  std::string weights =
      options.get("--weights", "FILE",
                  "weights of torchvision's resnet18; without it all layers are trained first", "");
  index_t images =
      options.get("--images", "N", "built-in images to train with", index_t{2000}, index_t{2});
  index_t side =
      options.get("--side", "N", "pixels that images are resized to", index_t{32}, index_t{32});
  index_t epochs = options.epochs(3), batch_size = options.batch_size(32);
  float lr = options.lr(0.002f);
  std::uint64_t seed = options.seed(0);
  int threads = options.threads();
  std::string save = options.get("--save", "FILE", "where the weights go", "finetuned.safetensors");

  FinetuneOptions(int argc, char** argv)
      : options(argc, argv, "10_finetune",
                "Trains the last layers of a ResNet-18 whose other layers are frozen.") {
    options.finish();
    gpunet::require(epochs >= 1, "10_finetune: --epochs ", epochs, " (want 1 or more)");
    gpunet::require(batch_size >= 2, "10_finetune: --batch-size ", batch_size,
                    " (want 2 or more: batch normalization compares samples)");
    gpunet::require(
        !save.ends_with(".npy"), "10_finetune: --save ", save,
        " (a .npy file holds one array, and there are many), name it .npz, .pth or .safetensors");
    gpunet::io::written_format(save);
    const gpunet::io::AtomicFile probe(save);              // throws now, not after the training
    if (!data.empty()) gpunet::data::CIFAR10::test(data);  // likewise if files are missing
    tell_of_real_images(data, "cifar10");
  }
};

// Returns the milliseconds of the faster of two steps of a learning rate of 0 on a batch, after one
// that allocates.
template <class Network, class Batches>
double step_milliseconds(Network& net, const gpunet::nn::CrossEntropyLoss& criterion,
                         Batches&& batches) {
  gpunet::optim::SGD optimizer(net, {.lr = 0});
  gpunet::train::Step step(net, criterion, optimizer);
  auto [inputs, labels] = *batches.begin();
  double best = 1e30;
  for (int i = 0; i < 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    step(inputs, labels).item();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    if (i > 0) best = std::min(best, time.count());
  }
  return best;
}

}  // namespace examples
