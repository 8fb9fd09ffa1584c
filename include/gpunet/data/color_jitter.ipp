// Bodies of color_jitter.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/data/color_jitter.hpp>

namespace gpunet::data {

namespace detail {

// Returns the brightness of a pixel of a color or gray image (ITU-R BT.601).
GPUNET_INLINE float gray(const Pixels<float>& image, index_t pixel) {
  const float* x = image.values.data() + pixel;
  const index_t n = image.sizes.pixels();
  return image.sizes.channels == 1 ? *x : 0.2989f * x[0] + 0.587f * x[n] + 0.114f * x[2 * n];
}

GPUNET_INLINE float mix(float a, float b, float factor) {
  return std::clamp(factor * a + (1 - factor) * b, 0.0f, 1.0f);
}

// Returns the color (red, green, blue) with its hue rotated by `turn` of a circle.
GPUNET_INLINE std::array<float, 3> turn_hue(const std::array<float, 3>& color, float turn) {
  const auto [r, g, b] = color;
  const float most = std::max({r, g, b}), least = std::min({r, g, b}), range = most - least;
  const float saturation = range == 0 ? 0 : range / most, divisor = range == 0 ? 1 : range;
  const float rc = (most - r) / divisor, gc = (most - g) / divisor, bc = (most - b) / divisor;
  const float sixths = most == r ? bc - gc : most == g ? 2 + rc - bc : 4 + gc - rc;
  float hue = sixths / 6 + turn;
  hue -= std::floor(hue);
  const int sector = std::min(static_cast<int>(hue * 6), 5);
  const float f = hue * 6 - static_cast<float>(sector), v = most;
  const float p = std::clamp(v * (1 - saturation), 0.0f, 1.0f);
  const float q = std::clamp(v * (1 - saturation * f), 0.0f, 1.0f);
  const float t = std::clamp(v * (1 - saturation * (1 - f)), 0.0f, 1.0f);
  const std::array<std::array<float, 3>, 6> colors{
      {{v, t, p}, {q, v, p}, {p, v, t}, {p, q, v}, {t, p, v}, {v, p, q}}};
  return colors[static_cast<std::size_t>(sector)];
}

}  // namespace detail

namespace functional {

GPUNET_INLINE void adjust_brightness(Pixels<float>& image, double factor) {
  for (float& x : image.values)
    x = detail::mix(x, 0, static_cast<float>(factor));
}

GPUNET_INLINE void adjust_contrast(Pixels<float>& image, double factor) {
  double sum = 0;
  for (index_t i = 0; i < image.sizes.pixels(); ++i)
    sum += static_cast<double>(detail::gray(image, i));
  const auto mean =
      static_cast<float>(sum / static_cast<double>(std::max(image.sizes.pixels(), index_t{1})));
  for (float& x : image.values)
    x = detail::mix(x, mean, static_cast<float>(factor));
}

GPUNET_INLINE void adjust_saturation(Pixels<float>& image, double factor) {
  if (image.sizes.channels == 1) return;
  const index_t n = image.sizes.pixels();
  for (index_t i = 0; i < n; ++i) {
    const float gray = detail::gray(image, i);
    for (index_t c = 0; c < 3; ++c) {
      float& x = image.values[static_cast<std::size_t>(c * n + i)];
      x = detail::mix(x, gray, static_cast<float>(factor));
    }
  }
}

GPUNET_INLINE void adjust_hue(Pixels<float>& image, double turn) {
  if (image.sizes.channels == 1) return;
  const index_t n = image.sizes.pixels();
  float* x = image.values.data();
  for (index_t i = 0; i < n; ++i, ++x) {
    const std::array<float, 3> color =
        detail::turn_hue({x[0], x[n], x[2 * n]}, static_cast<float>(turn));
    for (std::size_t c = 0; c < 3; ++c)
      x[static_cast<index_t>(c) * n] = color[c];
  }
}

}  // namespace functional

GPUNET_INLINE ColorJitter::ColorJitter(const ColorJitterOptions& options) : options_(options) {
  const auto check = [](std::string_view name, double value, double most) {
    require(0 <= value && value <= most, "gpunet::data::ColorJitter: ", name, " ", value,
            " (want 0 to ", most, ")");
  };
  const double most = 1e6;
  check("brightness", options.brightness, most);
  check("contrast", options.contrast, most);
  check("saturation", options.saturation, most);
  check("hue", options.hue, 0.5);
}

GPUNET_INLINE ImageSizes ColorJitter::output(const ImageSizes& input) const {
  require(input.channels == 1 || input.channels == 3, "gpunet::data::ColorJitter: images of ",
          input.channels, " channels (want 1, gray, or 3: red, green, blue)");
  return input;
}

GPUNET_INLINE void ColorJitter::operator()(Pixels<float>& image, Random& random) const {
  const auto factor = [&random](double most) {
    return random.uniform(std::max(0.0, 1 - most), 1 + most);
  };
  std::array<int, 4> order{0, 1, 2, 3};
  for (std::size_t i = 3; i > 0; --i)
    std::swap(order[i], order[random.integer(std::size_t{0}, i)]);
  for (const int what : order) {
    if (what == 0 && options_.brightness > 0)
      functional::adjust_brightness(image, factor(options_.brightness));
    if (what == 1 && options_.contrast > 0)
      functional::adjust_contrast(image, factor(options_.contrast));
    if (what == 2 && options_.saturation > 0)
      functional::adjust_saturation(image, factor(options_.saturation));
    if (what == 3 && options_.hue > 0)
      functional::adjust_hue(image, random.uniform(-options_.hue, options_.hue));
  }
}

}  // namespace gpunet::data
