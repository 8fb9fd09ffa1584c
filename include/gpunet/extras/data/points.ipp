// Bodies of points.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <numbers>

#include <gpunet/core/error.hpp>
#include <gpunet/data/dataset.hpp>
#include <gpunet/data/sample_random.hpp>
#include <gpunet/extras/data/points.hpp>

namespace gpunet::data {

GPUNET_INLINE label_t Points::read(index_t i, float* sample) const {
  detail::check_sample(i, size());
  std::copy_n(samples.data() + 2 * i, 2, sample);
  return labels[static_cast<std::size_t>(i)];
}

namespace detail {

constexpr double points_radius = 5;

// Returns n points, each with its own random generator: point(i, random, sample) writes the
// coordinates and returns the class.
template <class Point>
Points draw_points(const char* name, index_t n, const PointsOptions& options, Point point) {
  require(n >= 2, "gpunet::data::", name, ": ", n, " points (want 2 or more, one of each class)");
  require(options.noise >= 0 && options.noise <= 0.5, "gpunet::data::", name, ": a noise of ",
          options.noise, " (want 0 to 0.5), give it as a part, 0.1 for 10 percent");
  require(n <= most_elements, "gpunet::data::", name, ": ", n, " points (want ", most_elements,
          " or fewer, no memory holds more)");
  Points points;
  const auto reserve = [&] {
    points.labels.reserve(static_cast<std::size_t>(n));
    points.samples.reserve(2 * static_cast<std::size_t>(n));
  };
  gpunet::detail::attempt<std::bad_alloc>(reserve, [&](const std::bad_alloc&) {
    throw_error(Error(concat("gpunet::data::", name, ": ", n,
                             " points need more than the available memory, give fewer")));
  });
  for (index_t i = 0; i < n; ++i) {
    Random random(options.seed, static_cast<std::uint64_t>(i));
    std::array<double, 2> sample{};
    points.labels.push_back(static_cast<label_t>(point(i, random, sample)));
    for (const double x : sample)
      points.samples.push_back(static_cast<float>(x));
  }
  return points;
}

// Returns the number of points of class 1 among n. They come first.
constexpr index_t first_half(index_t n) {
  return n - n / 2;
}

}  // namespace detail

GPUNET_INLINE Points make_circle(index_t n, const PointsOptions& options) {
  constexpr double radius = detail::points_radius;
  return detail::draw_points(
      "make_circle", n, options, [&](index_t i, Random& random, auto& sample) {
        const bool inside = i < detail::first_half(n);
        const double r =
            inside ? random.uniform(0, radius / 2) : random.uniform(0.7 * radius, radius);
        const double angle = random.uniform(0, 2 * std::numbers::pi);
        sample = {r * std::sin(angle), r * std::cos(angle)};
        const double x = sample[0] + options.noise * random.uniform(-radius, radius);
        const double y = sample[1] + options.noise * random.uniform(-radius, radius);
        return std::hypot(x, y) < radius / 2;
      });
}

GPUNET_INLINE Points make_xor(index_t n, const PointsOptions& options) {
  constexpr double radius = detail::points_radius, gap = 0.3;
  return detail::draw_points("make_xor", n, options, [&](index_t, Random& random, auto& sample) {
    for (double& x : sample) {
      x = random.uniform(-radius, radius);
      x += x > 0 ? gap : -gap;
    }
    const double x = sample[0] + options.noise * random.uniform(-radius, radius);
    const double y = sample[1] + options.noise * random.uniform(-radius, radius);
    return x * y >= 0;
  });
}

GPUNET_INLINE Points make_gaussians(index_t n, const PointsOptions& options) {
  const double std = std::sqrt(0.5 + 7 * options.noise);
  return detail::draw_points(
      "make_gaussians", n, options, [&](index_t i, Random& random, auto& sample) {
        const bool first = i < detail::first_half(n);
        // Box and Muller 1958; 1 - u is never 0.
        const double radius = std * std::sqrt(-2 * std::log(1 - random.uniform(0, 1)));
        const double angle = random.uniform(0, 2 * std::numbers::pi), center = first ? 2 : -2;
        sample = {center + radius * std::cos(angle), center + radius * std::sin(angle)};
        return first;
      });
}

GPUNET_INLINE Points make_spiral(index_t n, const PointsOptions& options) {
  return detail::draw_points(
      "make_spiral", n, options, [&](index_t i, Random& random, auto& sample) {
        const index_t half = detail::first_half(n);
        const bool first = i < half;
        const auto place = static_cast<double>(first ? i : i - half) /
                           static_cast<double>(first ? half : n - half);
        const double r = detail::points_radius * place;
        const double angle = 1.75 * 2 * std::numbers::pi * place + (first ? 0 : std::numbers::pi);
        sample = {r * std::sin(angle) + options.noise * random.uniform(-1, 1),
                  r * std::cos(angle) + options.noise * random.uniform(-1, 1)};
        return first;
      });
}

GPUNET_INLINE Points make_points(std::string_view name, index_t n, const PointsOptions& options) {
  if (name == "circle") return make_circle(n, options);
  if (name == "xor") return make_xor(n, options);
  if (name == "gaussians") return make_gaussians(n, options);
  require(name == "spiral", "gpunet::data::make_points: '", name,
          "' is not a known problem (want circle, xor, gaussians or spiral)");
  return make_spiral(n, options);
}

}  // namespace gpunet::data
