// The command line of 11_gan and its samples.
#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <gpunet/core/random.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/formats.hpp>

#include "options.hpp"

namespace examples {

struct GanOptions {
  using index_t = gpunet::index_t;

  Options options;
  std::string device = options.device();
  index_t steps = options.get("--steps", "N", "updates of each network", index_t{6000}, index_t{1});
  index_t batch_size = options.batch_size(256);
  float lr = options.lr(0.001f);
  std::uint64_t seed = options.seed(0);
  int threads = options.threads();
  std::string save = options.get("--save", "FILE", "where the weights of the generator go",
                                 "generator.safetensors");

  GanOptions(int argc, char** argv)
      : options(argc, argv, "11_gan",
                "Trains a generator of points on a ring of eight Gaussians.") {
    options.finish();
    gpunet::require(
        !save.ends_with(".npy"), "11_gan: --save ", save,
        " (a .npy file holds one array, and there are many), name it .npz, .pth or .safetensors");
    gpunet::io::written_format(save);
    const gpunet::io::AtomicFile probe(save);  // throws now, not after the training
  }
};

inline constexpr int ring_modes = 8;
inline constexpr double ring_deviation = 0.05;

// Returns the center of a Gaussian on the ring, whose radius is 1.
inline std::array<double, 2> ring_center(int mode) {
  const double angle = 2 * std::numbers::pi * mode / ring_modes;
  return {std::cos(angle), std::sin(angle)};
}

// Returns points [n, 2] of the ring.
inline std::vector<float> ring_points(gpunet::Generator& generator, gpunet::index_t n) {
  std::vector<float> noise(static_cast<std::size_t>(2 * n));
  const auto lock = generator.lock();
  gpunet::draw_normal(generator, 2 * n, noise.data(), 0, ring_deviation);
  for (std::size_t i = 0; i < noise.size(); i += 2) {
    const auto center = ring_center(static_cast<int>(generator.random() % ring_modes));
    noise[i] += static_cast<float>(center[0]);
    noise[i + 1] += static_cast<float>(center[1]);
  }
  return noise;
}

// How well points [n, 2] are those of the ring: the share within four standard deviations of a
// center, and how many centers have at least a hundredth of the points.
struct RingFit {
  double good;
  int modes;
};
inline RingFit ring_fit(const std::vector<float>& points) {
  std::vector<int> count(ring_modes);
  for (std::size_t i = 0; i < points.size(); i += 2)
    for (int mode = 0; mode < ring_modes; ++mode)
      if (const auto [x, y] = ring_center(mode);
          std::hypot(points[i] - x, points[i + 1] - y) < 4 * ring_deviation)
        ++count[static_cast<std::size_t>(mode)];
  RingFit fit{0, 0};
  const double all = static_cast<double>(points.size()) / 2;
  for (const int of_mode : count) {
    fit.good += of_mode / all;
    fit.modes += of_mode >= all / 100;
  }
  return fit;
}

}  // namespace examples
