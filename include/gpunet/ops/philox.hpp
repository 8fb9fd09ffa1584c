// Random numbers for ops: a function of seed, step, node and element, and so the same on every device.
#pragma once

#include <cstdint>

#include <gpunet/ops/slice.hpp>

namespace gpunet {

// Four random words.
struct PhiloxWords {
  std::uint32_t words[4];
};

// Returns the words of a counter and a key: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy
// as 1, 2, 3", SC 2011.
GPUNET_FN constexpr PhiloxWords philox(PhiloxWords counter, std::uint32_t key0, std::uint32_t key1) {
  std::uint32_t a = counter.words[0], b = counter.words[1], c = counter.words[2], d = counter.words[3];
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t of_a = std::uint64_t{0xD2511F53} * a, of_c = std::uint64_t{0xCD9E8D57} * c;
    a = static_cast<std::uint32_t>(of_c >> 32) ^ b ^ key0;
    b = static_cast<std::uint32_t>(of_c);
    c = static_cast<std::uint32_t>(of_a >> 32) ^ d ^ key1;
    d = static_cast<std::uint32_t>(of_a);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return {{a, b, c, d}};
}

// Where the random numbers of a network come from.
struct RandomState {
  std::uint64_t seed = 0;               // drawn when the network is made
  const std::uint64_t* step = nullptr;  // the number of the pass in training mode, in the device's memory
};

// The random numbers of a node in a pass, for kernels: any number for each element of its output. Forward and backward of a
// pass see the same numbers, and so do all devices, numbers of threads, slices and element types.
class OpRandom {
 public:
  OpRandom() = default;
  OpRandom(const RandomState& state, int node, const Slice& slice, index_t first_sample, index_t features)
      : state_(state),
        node_(static_cast<std::uint32_t>(node)),
        inner_(slice.inner),
        first_sample_(first_sample),
        features_(features) {}

  // Returns 32 random bits for element i of the slice, an index into pass.y. Draws 0 to 255 are independent.
  GPUNET_FN std::uint32_t bits(index_t i, std::uint32_t draw = 0) const {
    const index_t row = i / inner_, group = row / features_, feature = row - group * features_;
    const index_t sample = first_sample_ + group * inner_ + i % inner_;
    // Four consecutive features of a sample share the words of a counter.
    const auto block = static_cast<std::uint64_t>(sample * ((features_ + 3) / 4) + feature / 4);
    const std::uint64_t step = *state_.step;
    const PhiloxWords words =
        philox({{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32) ^ node_ << 16,
                 static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32) ^ draw << 24}},
               static_cast<std::uint32_t>(state_.seed), static_cast<std::uint32_t>(state_.seed >> 32));
    return words.words[feature % 4];
  }
  // Returns a number from [0, 1), a multiple of 2^-24.
  GPUNET_FN float uniform(index_t i, std::uint32_t draw = 0) const {
    return static_cast<float>(bits(i, draw) >> 8) * (1.0f / 16777216.0f);
  }

 private:
  RandomState state_;
  std::uint32_t node_ = 0;
  index_t inner_ = 1, first_sample_ = 0, features_ = 1;
};

}  // namespace gpunet
