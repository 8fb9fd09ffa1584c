// Random numbers, bit for bit those of PyTorch's CPU generator.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include <gpunet/core/error.hpp>

namespace gpunet {

namespace detail {

// The Mersenne twister MT19937 of Matsumoto and Nishimura 1998, as std::mt19937, whose header is slow to compile.
class MersenneTwister {
 public:
  // Starts again.
  void seed(std::uint32_t seed);

  // 32 random bits.
  std::uint32_t operator()() {
    if (next_ == size) twist();
    std::uint32_t word = state_[next_++];
    word ^= word >> 11;
    word ^= word << 7 & 0x9d2c5680u;
    word ^= word << 15 & 0xefc60000u;
    return word ^ word >> 18;
  }

 private:
  static constexpr std::size_t size = 624;

  // Makes the next `size` words.
  void twist();

  std::array<std::uint32_t, size> state_;
  std::size_t next_ = size;
};

// Makes 16 uniform numbers normal (Box and Muller 1958).
void make_normal(float* values, float mean, float std);
void make_normal(double* values, double mean, double std);

}  // namespace detail

// A Mersenne twister and the numbers that PyTorch makes of its words. No distribution of the standard library is used:
// their results differ between platforms.
class Generator {
 public:
  static constexpr std::uint64_t default_seed = 67280421310721;  // of a PyTorch generator that nobody seeded

  Generator() { manual_seed(default_seed); }
  explicit Generator(std::integral auto seed) { manual_seed(seed); }

  // Starts again. As in PyTorch, the low 32 bits of the seed decide.
  void manual_seed(std::integral auto seed) {
    engine_.seed(static_cast<std::uint32_t>(seed));
    has_next_normal_ = false;
  }

  // Whoever draws several numbers that belong together holds this, as gpunet's own functions do for each model,
  // tensor or order that they draw, so that threads may share a generator. The functions of this class do not take it.
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  // 32 random bits.
  std::uint32_t random() { return engine_(); }

  // 64 random bits: two words, the high one drawn first.
  std::uint64_t random64() {
    const std::uint64_t high = random();
    return high << 32 | random();
  }

  // A number from 0 to 2^63 - 1, as of an int64 tensor's random_().
  std::int64_t random63() {
    return static_cast<std::int64_t>(random64() & std::numeric_limits<std::int64_t>::max());
  }

  // A number from 0 to n - 1, as of torch.randint(n, ...).
  index_t below(index_t n) {
    const auto range = static_cast<std::uint64_t>(n);
    return static_cast<index_t>((range < std::uint64_t{1} << 28 ? random() : random64()) % range);
  }

  // A number between low and high, as of a tensor's uniform_(low, high): 24 random bits for float, 53 for double.
  // The multiply-add is fused, as in PyTorch on any processor that has one, and therefore spelled out.
  template <class T>
  requires(std::same_as<T, float> || std::same_as<T, double>) T uniform(T low, T high) {
    constexpr int digits = std::numeric_limits<T>::digits;
    constexpr std::uint64_t range = std::uint64_t{1} << digits;
    const std::uint64_t bits = (std::same_as<T, float> ? random() : random64()) & (range - 1);
    const T unit = static_cast<T>(bits) * (T{1} / static_cast<T>(range));  // exact
    return std::fma(unit, high - low, low);
  }

  // A normal number, as of a tensor of fewer than 16 elements (draw_normal() does all sizes). They are made in pairs (Box and
  // Muller 1958); the second one waits for the next call.
  double normal(double mean, double std);

 private:
  detail::MersenneTwister engine_;
  bool has_next_normal_ = false;
  double next_normal_ = 0;
  std::mutex mutex_;
};

// The generator of whoever is not given another: initial weights, the order of batches.
Generator& default_generator();

// Seeds the default generator.
inline void manual_seed(std::integral auto seed) {
  const auto lock = default_generator().lock();
  default_generator().manual_seed(seed);
}

// Draws n normal numbers as a tensor's normal_(mean, std) does: fewer than 16 one by one, in double; 16 and more in blocks
// of 16, the last of which is drawn anew, reaching back, where n is no multiple of 16.
template <class T>
void draw_normal(Generator& generator, index_t n, T* values, double mean, double std) {
  constexpr index_t block = 16;
  if (n < block) {
    for (index_t i = 0; i < n; ++i)
      values[i] = static_cast<T>(generator.normal(mean, std));
    return;
  }
  const auto draw = [&](index_t first, index_t end) {
    for (index_t i = first; i < end; ++i)
      values[i] = generator.uniform(T{0}, T{1});
  };
  const T m = static_cast<T>(mean), s = static_cast<T>(std);
  draw(0, n);
  for (index_t i = 0; i + block <= n; i += block)
    detail::make_normal(values + i, m, s);
  if (n % block == 0) return;
  draw(n - block, n);
  detail::make_normal(values + n - block, m, s);
}

// The largest n of randperm(): for larger ones PyTorch uses another algorithm.
inline constexpr index_t most_permuted = std::numeric_limits<std::uint32_t>::max() / 20 - 1;

// The numbers 0 to n - 1 in random order, as of torch.randperm(n, generator=generator).
std::vector<index_t> randperm(index_t n, Generator& generator = default_generator());

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/core/random.ipp>
#endif
