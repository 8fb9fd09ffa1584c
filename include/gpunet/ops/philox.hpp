// Random numbers for ops: a function of seed, step, node and element, and so the same on every
// device.
#pragma once

#include <cstdint>

#include <gpunet/ops/slice.hpp>

namespace gpunet {

// Four random words.
struct PhiloxWords {
  std::uint32_t words[4];
};

// Returns the words of a counter and a key: Philox4x32-10 of Salmon, Moraes, Dror and Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
GPUNET_FN constexpr PhiloxWords philox(PhiloxWords counter, std::uint32_t key0,
                                       std::uint32_t key1) {
  std::uint32_t a = counter.words[0], b = counter.words[1], c = counter.words[2],
                d = counter.words[3];
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

// The source of the random numbers of a network.
struct RandomState {
  std::uint64_t seed = 0;  // drawn when the network is made
  // The number of the pass in training mode, in the device's memory.
  const std::uint64_t* step = nullptr;
};

// The random numbers of a node in a pass, for kernels: any number for each element of its output.
// Forward and backward of a pass see the same numbers, and so do all devices, numbers of threads,
// slices and element types.
class OpRandom {
 public:
  OpRandom() = default;
  OpRandom(const RandomState& state, int node, const Slice& slice, index_t first_sample,
           index_t features)
      : state_(state),
        node_(static_cast<std::uint32_t>(node)),
        inner_(slice.inner),
        first_sample_(first_sample),
        features_(features) {}

  // The numbers come in blocks, one for up to four consecutive features of a sample.
  static constexpr index_t per_block = 4;
  GPUNET_FN index_t blocks() const { return (features_ + per_block - 1) / per_block; }
  GPUNET_FN index_t features() const { return features_; }

  // Returns the numbers of the same node and pass for samples of another number of features.
  OpRandom with_features(index_t features) const {
    OpRandom random = *this;
    random.features_ = features;
    return random;
  }

  // Returns a block for a sample of the slice. Draws are independent.
  GPUNET_FN PhiloxWords words(index_t sample, index_t block, std::uint32_t draw = 0) const {
    const auto at = static_cast<std::uint64_t>((first_sample_ + sample) * blocks() + block);
    const std::uint64_t step = *state_.step;
    return philox(
        {{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at >> 32) ^ node_ << 16,
          static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32) ^ draw << 24}},
        static_cast<std::uint32_t>(state_.seed),
        static_cast<std::uint32_t>(state_.seed >> 32) ^ draw >> 8);
  }
  // Returns a number from [0, 1), a multiple of 2^-24, of a random word.
  GPUNET_FN static float uniform_of(std::uint32_t word) {
    return static_cast<float>(static_cast<std::int32_t>(word >> 8)) * (1.0f / 16777216.0f);
  }
  // Returns whether the network has random numbers: one of its ops uses them.
  bool exists() const { return state_.step != nullptr; }
  // Returns the number from [0, 1) for element i of the slice, an index into pass.y.
  // for_each_random is faster.
  GPUNET_FN float uniform(index_t i, std::uint32_t draw = 0) const {
    const index_t row = i / inner_, group = row / features_, feature = row % features_;
    return uniform_of(
        words(group * inner_ + i % inner_, feature / per_block, draw).words[feature % per_block]);
  }

 private:
  RandomState state_;
  std::uint32_t node_ = 0;
  index_t inner_ = 1, first_sample_ = 0, features_ = 1;
};

}  // namespace gpunet
