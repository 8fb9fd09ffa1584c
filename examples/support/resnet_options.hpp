// The command line of 07_resnet.
#pragma once

#include <string>

#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/formats.hpp>

#include "example_images.hpp"
#include "options.hpp"

namespace examples {

struct ResNetOptions {
  using index_t = gpunet::index_t;

  Options options;
  std::string device = options.device(), data = options.data("the CIFAR-10 binary files");
  index_t images =
      options.get("--images", "N", "built-in images to train with", index_t{8000}, index_t{2});
  int depth = options.get("--depth", "20|32|44|56|110", "layers", 20);
  index_t epochs = options.epochs(3), batch_size = options.batch_size(128);
  double lr = options.get("--lr", "X", "the highest learning rate", 0.2, 0.0);
  std::uint64_t seed = options.seed(0);
  int threads = options.threads();
  std::string save = options.get("--save", "FILE", "where the weights go", "resnet.safetensors");

  ResNetOptions(int argc, char** argv)
      : options(argc, argv, "07_resnet",
                "Trains a residual network on CIFAR-10, with augmented images.") {
    options.finish();
    gpunet::require(depth >= 8 && depth % 6 == 2, "07_resnet: --depth ", depth,
                    " (want 6 n + 2 layers: 8, 14, 20, 32, ...)");
    gpunet::require(batch_size >= 2, "07_resnet: --batch-size ", batch_size,
                    " (want 2 or more: batch normalization compares samples)");
    gpunet::require(epochs > 0, "07_resnet: --epochs 0 (want 1 or more)");
    gpunet::require(
        !save.ends_with(".npy"), "07_resnet: --save ", save,
        " (a .npy file holds one array, and there are many), name it .npz, .pth or .safetensors");
    gpunet::io::written_format(save);
    const gpunet::io::AtomicFile probe(save);              // throws now, not after the training
    if (!data.empty()) gpunet::data::CIFAR10::test(data);  // likewise if files are missing
    tell_of_real_images(data, "cifar10");
  }
};

}  // namespace examples
