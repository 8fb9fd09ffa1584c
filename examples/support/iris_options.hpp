// The command line of 02_iris.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <gpunet/plot.hpp>

#include "options.hpp"

namespace examples {

struct IrisOptions {
  using index_t = gpunet::index_t;

  Options options;
  std::string device = options.device();
  std::string csv =
      options.get("--csv", "FILE", "a table of numbers and classes; the built-in one without", "");
  std::string target =
      options.get("--target", "NAME", "its column of classes; the last one without", "");
  index_t epochs = options.epochs(100);
  index_t print_every =
      options.get("--print-every", "N", "epochs between lines", index_t{10}, index_t{1});
  float lr = options.lr(0.01f);
  std::uint64_t seed = options.seed(32);
  std::uint32_t split_seed =
      options.get<std::uint32_t>("--split-seed", "N", "which flowers are held out", 33);
  int threads = options.threads();
  std::string picture =
      options.get("--picture", "FILE", "where to draw the loss, .svg or .png", "iris_loss.svg");

  IrisOptions(int argc, char** argv)
      : options(argc, argv, "02_iris",
                "Trains a small network to tell species of iris, and tests it.") {
    options.finish();
    gpunet::plot::probe(picture);
    gpunet::require(target.empty() || !csv.empty(), "02_iris: --target is for --csv FILE");
  }
};

// Prints some of the losses; throws Error if they became NaN.
inline void print_losses(const std::vector<double>& losses, gpunet::index_t every) {
  for (std::size_t i = 0; i < losses.size(); i += static_cast<std::size_t>(every))
    std::printf("epoch: %2zu  loss: %10.8f\n", i + 1, losses[i]);
  gpunet::require(losses.empty() || std::isfinite(losses.back()),
                  "02_iris: the loss is NaN, use a smaller --lr");
}

}  // namespace examples
