// The command line of 08_vae, and its plot.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/formats.hpp>
#include <gpunet/plot.hpp>

#include "example_images.hpp"
#include "options.hpp"

namespace examples {

struct VaeOptions {
  using index_t = gpunet::index_t;

  Options options;
  std::string device = options.device(), data = options.data("MNIST's idx files, packed or not");
  index_t images = options.get("--images", "N", "how many built-in digits an epoch has",
                               index_t{20000}, index_t{1});
  index_t epochs = options.epochs(10), batch_size = options.batch_size(128);
  float lr = options.lr(0.001f);
  std::uint64_t seed = options.seed(0);
  int threads = options.threads();
  std::string save = options.get("--save", "FILE", "where to save the network", "vae.safetensors");
  std::string picture =
      options.get("--picture", "FILE", "where to draw digits, .svg or .png", "vae_digits.svg");

  VaeOptions(int argc, char** argv)
      : options(argc, argv, "08_vae",
                "Trains a variational autoencoder on digits, and draws new ones.") {
    options.finish();
    gpunet::require(epochs >= 1, "08_vae: --epochs ", epochs, " (want 1 or more)");
    gpunet::require(
        !save.ends_with(".npy"), "08_vae: --save ", save,
        " (a .npy file holds one array, and there are ten), name it .npz, .pth or .safetensors");
    gpunet::io::written_format(save);
    const gpunet::io::AtomicFile probe(save);  // throws now, not after the training
    gpunet::plot::probe(picture);
    tell_of_real_images(data, "mnist");
  }
};

// Returns the first `count` images of a dataset, one after another.
inline std::vector<float> first_images(const gpunet::data::DatasetView& set,
                                       gpunet::index_t count) {
  const gpunet::index_t pixels = set.sample_sizes().numel();
  std::vector<float> images(static_cast<std::size_t>(count * pixels));
  for (gpunet::index_t i = 0; i < count; ++i)
    set.read(i, images.data() + i * pixels);
  return images;
}

// Draws rows of `columns` digits, 28 x 28 pixels each.
inline void save_digits(const std::string& path, gpunet::index_t columns,
                        std::initializer_list<std::vector<float>> parts) {
  std::vector<gpunet::io::Image> digits;
  for (const std::vector<float>& part : parts)
    for (auto at = part.begin(); at != part.end(); at += 28 * 28)
      digits.push_back(gpunet::io::to_image(std::vector<float>(at, at + 28 * 28), {28, 28}));
  gpunet::plot::save(path, gpunet::plot::image_grid(digits, {.columns = columns}));
}

}  // namespace examples
