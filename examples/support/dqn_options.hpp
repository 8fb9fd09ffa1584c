// The command line of 12_dqn.
#pragma once

#include <cmath>
#include <string>

#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/formats.hpp>

#include "options.hpp"

namespace examples {

struct DqnOptions {
  using index_t = gpunet::index_t;

  Options options;
  std::string device = options.device();
  index_t steps =
      options.get("--steps", "N", "pushes of each of eight carts", index_t{20000}, index_t{1});
  index_t batch_size = options.batch_size(128);
  index_t longest =
      options.get("--longest", "N", "pushes that end an episode", index_t{500}, index_t{1});
  float lr = options.lr(0.001f);
  std::uint64_t seed = options.seed(0);
  int threads = options.threads();
  std::string save = options.get("--save", "FILE", "where the weights go", "cartpole.safetensors");

  DqnOptions(int argc, char** argv)
      : options(argc, argv, "12_dqn", "Learns by trial to balance a pole on a cart.") {
    options.finish();
    gpunet::require(
        !save.ends_with(".npy"), "12_dqn: --save ", save,
        " (a .npy file holds one array, and there are many), name it .npz, .pth or .safetensors");
    gpunet::io::written_format(save);
    const gpunet::io::AtomicFile probe(save);  // throws now, not after the training
  }
};

// Returns a loss. Throws Error if it is not finite.
inline float finite(float loss) {
  gpunet::require(std::isfinite(loss), "12_dqn: a loss is not finite, use a smaller --lr");
  return loss;
}

}  // namespace examples
