// The command line of 06_regression.
#pragma once

#include <string>

#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/formats.hpp>
#include <gpunet/plot.hpp>

#include "options.hpp"

namespace examples {

struct RegressionOptions {
  using index_t = gpunet::index_t;

  Options options;
  std::string device = options.device();
  std::string csv =
      options.get("--csv", "FILE", "a table of numbers; without it, the built-in flowers", "");
  std::string target =
      options.get("--target", "NAME", "the column to predict; without it, the last one", "");
  index_t epochs = options.epochs(100);
  index_t batch_size = options.batch_size(16);
  index_t print_every =
      options.get("--print-every", "N", "epochs between lines", index_t{10}, index_t{1});
  float lr = options.lr(0.01f);
  std::uint64_t seed = options.seed(0);
  int threads = options.threads();
  std::string save =
      options.get("--save", "FILE", "where to save the network", "regression.safetensors");
  std::string picture =
      options.get("--picture", "FILE", "where to draw the losses, .svg or .png", "regression.svg");

  RegressionOptions(int argc, char** argv)
      : options(argc, argv, "06_regression",
                "Trains a small network to predict a number of a table, and saves it.") {
    options.finish();
    gpunet::require(
        !save.ends_with(".npy"), "06_regression: --save ", save,
        " (a .npy file holds one array, and there are four), name it .npz, .pth or .safetensors");
    gpunet::io::written_format(save);
    const gpunet::io::AtomicFile probe(save);  // throws now, not after the training
    gpunet::plot::probe(picture);
  }
};

}  // namespace examples
