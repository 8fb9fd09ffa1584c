// Bodies of random.hpp.
#pragma once

#include <algorithm>
#include <bit>
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
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t word = (state_[i] & 0x80000000u) | (state_[(i + 1) % size] & 0x7fffffffu);
    state_[i] = state_[(i + middle) % size] ^ word >> 1 ^ (word & 1 ? 0x9908b0dfu : 0);
  }
  next_ = 0;
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

// Logarithm, sine and cosine in single precision as PyTorch computes them for normal numbers on processors with AVX2.
// Coefficients and range reduction are those of the Cephes library (S. Moshier, logf.c and sinf.c); the last bit
// depends on the order of the operations and on which are fused.

// Returns log(x) for 2^-24 <= x <= 1: x = m 2^e with sqrt(1/2) <= m < sqrt(2), and a polynomial in m - 1.
GPUNET_INLINE float log_of_uniform(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  float e = static_cast<float>(static_cast<int>(bits >> 23) - 126);
  float m = std::bit_cast<float>((bits & 0x007fffffu) | 0x3f000000u);  // 1/2 <= m < 1
  if (m < 0.707106781186547524f) {
    e -= 1;
    m = (m - 1) + m;
  } else {
    m -= 1;
  }
  const float z = m * m;
  float y = 7.0376836292e-2f;
  for (float c : {-1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f,
                  2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f})
    y = std::fma(y, m, c);
  y = std::fma(y * m, z, e * -2.12194440e-4f);
  y = std::fma(z, -0.5f, y);
  return std::fma(e, 0.693359375f, m + y);
}

struct SineAndCosine {
  float sine, cosine;
};

// Returns both for an angle from 0 to 2 pi, reduced to -pi/4 ... pi/4 by subtracting a multiple of pi/4 that is split
// into three parts.
GPUNET_INLINE SineAndCosine sine_and_cosine(float angle) {
  const int octant = (static_cast<int>(angle * 1.27323954473516f) + 1) & ~1;
  const float n = static_cast<float>(octant);
  float x = std::fma(n, -0.78515625f, angle);
  x = std::fma(n, -2.4187564849853515625e-4f, x);
  x = std::fma(n, -3.77489497744594108e-8f, x);
  const float z = x * x;
  float c = std::fma(2.443315711809948e-5f, z, -1.388731625493765e-3f);
  c = std::fma(c, z, 4.166664568298827e-2f);
  c = std::fma(c * z, z, -(z * 0.5f)) + 1;
  float s = std::fma(-1.9515295891e-4f, z, 8.3321608736e-3f);
  s = std::fma(s, z, -1.6666654611e-1f);
  s = std::fma(s * z, x, x);
  const bool swapped = octant & 2;
  const float sine = swapped ? c : s, cosine = swapped ? s : c;
  return {octant & 4 ? -sine : sine, (octant + 2) & 4 ? -cosine : cosine};
}

GPUNET_INLINE void make_normal(float* values, float mean, float std) {
  for (int i = 0; i < 8; ++i) {
    const float radius = std::sqrt(-2.0f * log_of_uniform(1 - values[i]));
    const auto [sine, cosine] = sine_and_cosine(static_cast<float>(2 * std::numbers::pi) * values[i + 8]);
    values[i] = std::fma(radius * cosine, std, mean);
    values[i + 8] = std::fma(radius * sine, std, mean);
  }
}
GPUNET_INLINE void make_normal(double* values, double mean, double std) {
  for (int i = 0; i < 8; ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - values[i])), angle = 2 * std::numbers::pi * values[i + 8];
    values[i] = std::fma(radius * std::cos(angle), std, mean);
    values[i + 8] = std::fma(radius * std::sin(angle), std, mean);
  }
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
  require(0 <= n && n <= most_permuted, "gpunet::randperm: ", n, " numbers (want 0 to ", most_permuted, ")");
  const auto lock = generator.lock();
  std::vector<index_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), index_t{0});
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + generator.random() % (order.size() - i)]);
  return order;
}

}  // namespace gpunet
