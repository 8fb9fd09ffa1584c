// Bodies of painted_shapes.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include <gpunet/data/dataset.hpp>
#include <gpunet/extras/data/painted_outlines.hpp>
#include <gpunet/extras/data/painted_shapes.hpp>

namespace gpunet::data {

namespace detail::shapes {

inline constexpr int channels = 3, side = 32;

// The random properties of an image.
struct Scene {
  int u0, ux, uy, v0, vx, vy;           // pixel to figure: u = (u0 + ux x + uy y) / 64
  int sharpness;                        // pixels per unit of a figure, times 64
  int back[channels], front[channels];  // colors
  // Brightness of the background: (shade + shade_x x + shade_y y) / 256.
  int shade, shade_x, shade_y;
  int noise;  // amplitude
  std::uint32_t noise_seed;

  Scene(std::uint64_t seed, std::uint64_t i) {
    Random random(seed, i);
    // Pixels.
    const double radius = random.uniform(9, 14), angle = random.uniform(0, 2 * std::numbers::pi);
    const double x = random.uniform(radius, side - radius) - 0.5,
                 y = random.uniform(radius, side - radius) - 0.5;
    const double scale = 64 * figures::unit / radius;
    const auto whole = [](double value) {
      return static_cast<int>(std::lround(value));
    };
    ux = whole(scale * std::cos(angle));
    uy = whole(scale * std::sin(angle));
    vx = -uy;
    vy = ux;
    u0 = -whole(x * ux + y * uy);
    v0 = -whole(x * vx + y * vy);
    sharpness = whole(64 * radius);
    do {
      for (int c = 0; c < channels; ++c) {
        back[c] = random.integer(20, 235);
        front[c] = random.integer(20, 235);
      }
    } while (contrast() < 240);
    shade_x = random.integer(-256, 256);
    shade_y = random.integer(-256, 256);
    shade = -(shade_x + shade_y) * side / 2;
    noise = random.integer(8, 40);
    noise_seed = static_cast<std::uint32_t>(random.next());
  }
  int contrast() const {
    int sum = 0;
    for (int c = 0; c < channels; ++c)
      sum += front[c] - back[c];
    return std::abs(sum);
  }
};

using Coverage = std::array<int, side * side>;

// Writes the fraction of each pixel that is inside of a figure, times 256.
GPUNET_INLINE void cover(int (*figure)(int, int), const Scene& scene, Coverage& inside) {
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const int u = (scene.u0 + scene.ux * x + scene.uy * y) >> 6;
      const int v = (scene.v0 + scene.vx * x + scene.vy * y) >> 6;
      inside[static_cast<std::size_t>(y * side + x)] =
          std::clamp(128 - (figure(u, v) * scene.sharpness >> 8), 0, 256);
    }
}

// Draws the figure that covers `inside` as [3, 32, 32] bytes.
[[GPUNET_VECTORIZE]] GPUNET_INLINE void paint(const Scene& scene, const Coverage& inside,
                                              std::uint8_t* bytes) {
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const int pixel = y * side + x;
      const int shade = (scene.shade + scene.shade_x * x + scene.shade_y * y) >> 8;
      std::uint32_t noise = scene.noise_seed + static_cast<std::uint32_t>(pixel);
      noise = (noise ^ (noise >> 16)) * 0x7feb352d;
      noise = (noise ^ (noise >> 15)) * 0x846ca68b;
      noise ^= noise >> 16;
      for (int c = 0; c < channels; ++c) {
        const int back = scene.back[c] + shade;
        const int grain = (static_cast<int>(noise >> (8 * c) & 255) - 128) * scene.noise >> 8;
        const int value =
            back + ((scene.front[c] - back) * inside[static_cast<std::size_t>(pixel)] >> 8) + grain;
        bytes[c * side * side + pixel] = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
      }
    }
}

}  // namespace detail::shapes

GPUNET_INLINE ImageBytes Shapes::image(index_t i, std::vector<std::uint8_t>& buffer) const {
  detail::check_sample(i, size());
  static constexpr std::array figures_in_order = {
      figures::disc,  figures::ring, figures::square, figures::frame,    figures::triangle,
      figures::cross, figures::star, figures::bar,    figures::crescent, figures::hourglass};
  const auto label = static_cast<std::size_t>(i) % figures_in_order.size();
  const detail::shapes::Scene scene(seed_, static_cast<std::uint64_t>(i));
  detail::shapes::Coverage inside;
  detail::shapes::cover(figures_in_order[label], scene, inside);
  buffer.resize(static_cast<std::size_t>(sizes.numel()));
  detail::shapes::paint(scene, inside, buffer.data());
  return {{buffer.data(), sizes}, static_cast<label_t>(label)};
}

}  // namespace gpunet::data
