// The command line of 01_cifar10.
#pragma once

#include <gpunet/io/atomic_file.hpp>

#include "example_images.hpp"
#include "options.hpp"

namespace examples {

struct CIFAR10Options {
  using index_t = gpunet::index_t;

  Options options;
  std::string device = options.device(), data = options.data("the CIFAR-10 binary files");
  index_t epochs = options.epochs(2), batch_size = options.batch_size(4);
  float lr = options.lr(0.001f), momentum = options.get("--momentum", "X", "momentum", 0.9f, 0.0f);
  std::uint64_t seed = options.seed(0);
  int threads = options.threads();
  index_t max_steps =
      options.get("--max-steps", "N", "stop after so many steps; 0: never", index_t{0}, index_t{0});
  index_t print_every =
      options.get("--print-every", "N", "steps between lines", index_t{2000}, index_t{1});
  int precision = options.get("--precision", "P", "digits of the loss", 3, 0);
  std::string save = options.get("--save", "FILE", "where the weights go", "cifar_net.safetensors");
  std::string load = options.get("--load", "FILE", "test these weights instead of training", "");
  std::string loop = options.choice("--loop", {"step", "eager"}, "how a step is written");

  CIFAR10Options(int argc, char** argv)
      : options(argc, argv, "01_cifar10",
                "Trains the network of PyTorch's CIFAR-10 lesson and tests it.") {
    options.finish();
    gpunet::require(precision <= 17, "01_cifar10: --precision ", precision, " (want 0 to 17)");
    gpunet::require(
        !save.ends_with(".npy"), "01_cifar10: --save ", save,
        " (a .npy file holds one array, and there are ten), name it .npz, .pth or .safetensors");
    gpunet::io::written_format(save);
    // Throws now, not after the training.
    if (load.empty()) const gpunet::io::AtomicFile probe(save);
    // Likewise if files are missing.
    if (load.empty() && !data.empty()) gpunet::data::CIFAR10::test(data);
    tell_of_real_images(data, "cifar10");
  }

  auto classes() const {
    return data.empty() ? gpunet::data::Shapes::classes() : gpunet::data::CIFAR10::classes();
  }
};

}  // namespace examples
