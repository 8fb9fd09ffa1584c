// Bodies of random.hpp.
#pragma once

#include <numbers>
#include <numeric>
#include <utility>

#include <gpunet/core/random.hpp>

namespace gpunet {

namespace detail {

GPUNET_INLINE void MersenneTwister::seed(std::uint32_t seed) {
  state_[0] = seed;
  for (std::uint32_t i = 1; i < size; ++i)
    state_[i] = 1812433253u * (state_[i - 1] ^ state_[i - 1] >> 30) + i;
  next_ = size;
}

GPUNET_INLINE void MersenneTwister::twist() {
  constexpr std::size_t middle = 397;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t word = (state_[i] & 0x80000000u) | (state_[(i + 1) % size] & 0x7fffffffu);
    state_[i] = state_[(i + middle) % size] ^ word >> 1 ^ (word & 1 ? 0x9908b0dfu : 0);
  }
  next_ = 0;
}

}  // namespace detail

GPUNET_INLINE double Generator::normal(double mean, double std) {
  if (std::exchange(has_next_normal_, false)) return std::fma(next_normal_, std, mean);
  const double angle = 2 * std::numbers::pi * uniform(0.0, 1.0);
  const double radius = std::sqrt(-2 * std::log1p(-uniform(0.0, 1.0)));
  next_normal_ = radius * std::sin(angle);
  has_next_normal_ = true;
  return std::fma(radius * std::cos(angle), std, mean);
}

GPUNET_INLINE Generator& default_generator() {
  static Generator generator;
  return generator;
}

GPUNET_INLINE std::vector<index_t> randperm(index_t n, Generator& generator) {
  require(0 <= n && n <= most_permuted, "gpunet::randperm: ", n, " numbers (want 0 to ", most_permuted, ")");
  const auto lock = generator.lock();
  std::vector<index_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), index_t{0});
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + generator.random() % (order.size() - i)]);
  return order;
}

}  // namespace gpunet
