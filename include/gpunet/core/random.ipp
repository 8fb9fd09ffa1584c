// Bodies of random.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <utility>

#include <gpunet/core/random.hpp>
#include <gpunet/core/state.hpp>

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
  const auto twisted = [](std::uint32_t word, std::uint32_t next) {
    const std::uint32_t both = (word & 0x80000000u) | (next & 0x7fffffffu);
    return both >> 1 ^ (-(both & 1u) & 0x9908b0dfu);
  };
  for (std::size_t i = 0; i < size - middle; ++i)
    state_[i] = state_[i + middle] ^ twisted(state_[i], state_[i + 1]);
  for (std::size_t i = size - middle; i < size - 1; ++i)
    state_[i] = state_[i + middle - size] ^ twisted(state_[i], state_[i + 1]);
  state_[size - 1] = state_[middle - 1] ^ twisted(state_[size - 1], state_[0]);
  next_ = 0;
}

GPUNET_INLINE void MersenneTwister::operator()(std::uint32_t* words, index_t n) {
  constexpr index_t at_once = 16;  // a constant number, for compilers to make vectors of
  while (n > 0) {
    if (next_ == size) twist();
    const std::uint32_t* from = state_.data() + next_;
    const index_t some = std::min(n, static_cast<index_t>(size - next_));
    index_t i = 0;
    for (; i + at_once <= some; i += at_once)
      for (index_t k = i; k < i + at_once; ++k)
        words[k] = tempered(from[k]);
    for (; i < some; ++i)
      words[i] = tempered(from[i]);
    next_ += static_cast<std::size_t>(some);
    words += some;
    n -= some;
  }
}

GPUNET_INLINE void MersenneTwister::discard(std::uint64_t words) {
  for (; words > size - next_; twist())
    words -= size - next_;
  next_ += words;
}

GPUNET_INLINE void MersenneTwister::visit_state(StateVisitor& state) {
  std::array<index_t, size> words;
  std::copy(state_.begin(), state_.end(), words.begin());
  auto next = static_cast<index_t>(next_);
  state.array("words", {static_cast<index_t>(size)}, std::span<index_t>(words));
  state.value("next", next);
  if (!state.is_reading()) return;
  for (std::size_t i = 0; i < size; ++i)
    state_[i] = static_cast<std::uint32_t>(words[i]);
  next_ = std::min(static_cast<std::size_t>(next), size);
}

}  // namespace detail

GPUNET_INLINE void Generator::visit_state(StateVisitor& state) {
  const auto own = lock();
  state.part("engine", engine_);
  state.value("has_next_normal", has_next_normal_);
  state.value("next_normal", next_normal_);
}

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
  require(0 <= n && n <= most_permuted, "gpunet::randperm: ", n, " numbers (want 0 to ",
          most_permuted, ")");
  const auto lock = generator.lock();
  std::vector<index_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), index_t{0});
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + generator.random() % (order.size() - i)]);
  return order;
}

}  // namespace gpunet
