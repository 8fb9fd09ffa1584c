// Bodies of rotation.hpp.
#pragma once

#include <cmath>
#include <numbers>

#include <gpunet/core/error.hpp>
#include <gpunet/data/rotation.hpp>

namespace gpunet::data {

namespace functional {

namespace detail {

// A channel of an image that is read at any place.
struct Plane {
  const float* values;
  index_t height, width;
  float fill;

  bool has(double x, double y) const {
    return 0 <= x && x < static_cast<double>(width) && 0 <= y && y < static_cast<double>(height);
  }
  float at(double x, double y) const {
    return values[static_cast<index_t>(y) * width + static_cast<index_t>(x)];
  }

  float nearest(double x, double y) const {
    const double column = std::nearbyint(x), row = std::nearbyint(y);
    return has(column, row) ? at(column, row) : fill;
  }
  // As torchvision, which multiplies the mean of the neighbors, 0 outside, by the part of it that
  // is inside.
  float bilinear(double x, double y) const {
    const double left = std::floor(x), top = std::floor(y);
    double value = 0, inside = 0;
    for (const double row : {top, top + 1})
      for (const double column : {left, left + 1}) {
        if (!has(column, row)) continue;
        const double weight = (1 - std::abs(x - column)) * (1 - std::abs(y - row));
        value += weight * static_cast<double>(at(column, row));
        inside += weight;
      }
    return static_cast<float>(value * inside + (1 - inside) * static_cast<double>(fill));
  }
};

}  // namespace detail

GPUNET_INLINE void rotate(Pixels<float>& image, double angle, const RotateOptions& options) {
  const auto [channels, height, width] = image.sizes;
  const double middle_x = static_cast<double>(width) / 2,
               middle_y = static_cast<double>(height) / 2;
  const auto [center_x, center_y] = options.center.value_or(std::array{middle_x, middle_y});
  const double radians = angle * std::numbers::pi / 180, cosine = std::cos(radians),
               sine = std::sin(radians);
  image.renew(image.sizes);
  for (index_t c = 0; c < channels; ++c) {
    const detail::Plane plane{image.before.data() + c * height * width, height, width,
                              options.fill};
    for (index_t row = 0; row < height; ++row)
      for (index_t column = 0; column < width; ++column) {
        const double x = static_cast<double>(column) + 0.5 - center_x,
                     y = static_cast<double>(row) + 0.5 - center_y;
        const double from_x = cosine * x - sine * y + center_x - 0.5;
        const double from_y = sine * x + cosine * y + center_y - 0.5;
        image.at(c, row, column) = options.interpolation == Interpolation::nearest
                                       ? plane.nearest(from_x, from_y)
                                       : plane.bilinear(from_x, from_y);
      }
  }
}

}  // namespace functional

GPUNET_INLINE RandomRotation::RandomRotation(double degrees, const RotateOptions& options)
    : degrees_{-degrees, degrees}, options_(options) {
  require(degrees >= 0 && std::isfinite(degrees), "gpunet::data::RandomRotation: ", degrees,
          " degrees (want 0 or more, the angle goes from -degrees to degrees), give two for other "
          "angles, as RandomRotation{{0, 90}}");
}
GPUNET_INLINE RandomRotation::RandomRotation(const std::array<double, 2>& degrees,
                                             const RotateOptions& options)
    : degrees_(degrees), options_(options) {
  require(degrees[0] <= degrees[1] && std::isfinite(degrees[0]) && std::isfinite(degrees[1]),
          "gpunet::data::RandomRotation: ", degrees[0], " to ", degrees[1],
          " degrees (want finite numbers, the smaller one first)");
}

GPUNET_INLINE void RandomRotation::operator()(Pixels<float>& image, Random& random) const {
  functional::rotate(image, random.uniform(degrees_[0], degrees_[1]), options_);
}

}  // namespace gpunet::data
