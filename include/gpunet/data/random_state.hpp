// Random orders as NumPy's legacy generator makes them.
#pragma once

#include <cstdint>
#include <vector>

#include <gpunet/core/random.hpp>

namespace gpunet::data {

// numpy.random.RandomState(seed), which scikit-learn draws from: the Mersenne twister again, used in another way than
// PyTorch does. For fewer than 2^32 numbers.
class RandomState {
 public:
  explicit RandomState(std::uint32_t seed) : engine_() { engine_.seed(seed); }

  void shuffle(std::vector<index_t>& numbers);

  // The numbers 0 to n - 1 in random order.
  std::vector<index_t> permutation(index_t n);

 private:
  // A number from 0 to most: words cut to its number of bits, until one fits.
  std::uint32_t up_to(std::uint32_t most);

  gpunet::detail::MersenneTwister engine_;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/random_state.ipp>
#endif
