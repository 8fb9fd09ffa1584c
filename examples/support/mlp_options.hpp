// The command line of 04_mlp.
#pragma once

#include <gpunet/plot.hpp>

#include "example_images.hpp"
#include "options.hpp"

namespace examples {

struct MlpOptions {
  using index_t = gpunet::index_t;

  Options options;
  std::string device = options.device(), data = options.data("MNIST's idx files, packed or not");
  index_t hidden_dim =
      options.get("--hidden", "N", "width of the hidden layers", index_t{256}, index_t{1});
  index_t images = options.get("--images", "N", "how many built-in digits an epoch has",
                               index_t{60000}, index_t{4});
  index_t epochs = options.epochs(1), batch_size = options.batch_size(128);
  float lr = options.lr(0.001f);
  std::uint64_t seed = options.seed(0);
  int threads = options.threads();
  std::string pictures =
      options.get("--pictures", "PREFIX", "how the names of the pictures begin", "mlp");

  MlpOptions(int argc, char** argv)
      : options(argc, argv, "04_mlp",
                "Trains a network of fully connected layers to read digits.") {
    options.finish();
    gpunet::require(!pictures.empty(),
                    "04_mlp: --pictures is empty (want how their names begin, as mlp)");
    for (const char* const picture : {"_network", "_training", "_digits"})
      gpunet::plot::probe(gpunet::concat(pictures, picture, ".svg"));
    tell_of_real_images(data, "mnist");
  }
};

}  // namespace examples
