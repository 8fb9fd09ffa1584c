// Bodies of init.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <gpunet/nn/init.hpp>

namespace gpunet::nn::init {

GPUNET_INLINE Fans fans_of(const Sizes& sizes) {
  require(sizes.rank() >= 2, "gpunet::nn::init: a parameter of shape ", to_string(sizes),
          " has no fan in and fan out (want two dimensions or more, as weights have)");
  return {sizes.numel() / std::max(sizes[0], index_t{1}),
          sizes.numel() / std::max(sizes[1], index_t{1})};
}

namespace detail {

// Returns the cumulative distribution function of the standard normal distribution.
inline double normal_cdf(double x) {
  return (1.0 + std::erf(x / std::sqrt(2.0))) / 2.0;
}

// Draws normal numbers; those outside [a, b] again, n at a time, as PyTorch does.
template <class T>
void draw_again_outside(Generator& generator, index_t n, T* values, double mean, double std, T a,
                        T b) {
  draw_normal(generator, n, values, mean, std);
  std::vector<T> others(static_cast<std::size_t>(n));
  const auto is_outside = [a, b](T value) {
    return value < a || value > b;
  };
  while (std::any_of(values, values + n, is_outside)) {
    draw_normal(generator, n, others.data(), mean, std);
    for (index_t i = 0; i < n; ++i)
      if (is_outside(values[i])) values[i] = others.data()[i];
  }
}

// Draws normal numbers in [a, b] by rejection sampling: uniform numbers, accepted with probability
// density / peak density.
template <class T>
void draw_below_density(Generator& generator, index_t n, T* values, double mean, double std,
                        double a, double b) {
  const double mode = std::max(a, std::min(mean, b)),
               log_peak = -0.5 * std::pow((mode - mean) / std, 2);
  std::vector<T> candidates(static_cast<std::size_t>(n)), chances(candidates.size());
  std::vector<bool> pending(candidates.size(), true);
  while (std::find(pending.begin(), pending.end(), true) != pending.end()) {
    draw_uniform(generator, n, candidates.data(), static_cast<T>(a), static_cast<T>(b));
    draw_uniform(generator, n, chances.data(), 0, 1);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (!pending[i]) continue;
      const T distance = (candidates[i] - static_cast<T>(mean)) / static_cast<T>(std);
      values[i] = candidates[i];
      pending[i] = std::log(chances[i]) > distance * distance * T{-0.5} - static_cast<T>(log_peak);
    }
  }
}

// Draws numbers that are outside again if they are few, as PyTorch does.
template <class T>
void draw_truncated(Generator& generator, index_t n, T* values, const TruncatedNormal& normal) {
  const auto [mean, std, a, b] = normal;
  if (normal_cdf((b - mean) / std) - normal_cdf((a - mean) / std) > 0.3)
    draw_again_outside(generator, n, values, mean, std, static_cast<T>(a), static_cast<T>(b));
  else
    draw_below_density(generator, n, values, mean, std, a, b);
}

GPUNET_INLINE void draw_truncated_normal(Generator& generator, index_t n, float* values,
                                         const TruncatedNormal& normal) {
  draw_truncated(generator, n, values, normal);
}
GPUNET_INLINE void draw_truncated_normal(Generator& generator, index_t n, double* values,
                                         const TruncatedNormal& normal) {
  draw_truncated(generator, n, values, normal);
}

GPUNET_INLINE double kaiming_std(const Sizes& sizes, double a, FanMode mode,
                                 Nonlinearity nonlinearity) {
  const Fans fans = fans_of(sizes);
  return calculate_gain(nonlinearity, a) /
         std::sqrt(static_cast<double>(mode == FanMode::fan_in ? fans.in : fans.out));
}

GPUNET_INLINE double xavier_std(const Sizes& sizes, double gain) {
  const Fans fans = fans_of(sizes);
  return gain * std::sqrt(2.0 / static_cast<double>(fans.in + fans.out));
}

}  // namespace detail

}  // namespace gpunet::nn::init
