// The random generator of one sample.
#pragma once

#include <concepts>
#include <cstdint>

#include <gpunet/core/random.hpp>

namespace gpunet::data {

// A small random generator (SplitMix64 of Steele, Lea and Flood, 2014), cheap enough to be made for
// every sample.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  // The generator of sample `i`: its numbers depend on the seed and on `i` only.
  Random(std::uint64_t seed, std::uint64_t i) : state_(mix(seed) + i * 0xd1342543de82ef95) {}

  // Returns 64 random bits.
  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15); }
  // Returns a number in [low, high).
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(next() >> 11) * 0x1p-53);
  }
  // Returns an integer in [low, high].
  template <std::integral T>
  T integer(T low, T high) {
    return low + static_cast<T>(next() % (static_cast<std::uint64_t>(high - low) + 1));
  }

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

// Returns a generator for a sample that is read outside of a loader. The default generator seeds
// it.
inline Random any_random() {
  const auto lock = default_generator().lock();
  return Random(default_generator().random64());
}

}  // namespace gpunet::data
