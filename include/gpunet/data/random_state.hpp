// Random orders as NumPy's legacy generator makes them.
#pragma once

#include <bit>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <gpunet/core/config.hpp>

namespace gpunet::data {

// numpy.random.RandomState(seed), which scikit-learn draws from: the Mersenne twister again, used in another way than
// PyTorch does. For fewer than 2^32 numbers.
class RandomState {
 public:
  explicit RandomState(std::uint32_t seed) : engine_(seed) {}

  void shuffle(std::vector<index_t>& numbers) {
    for (std::size_t i = numbers.size(); i-- > 1;)
      std::swap(numbers[i], numbers[up_to(static_cast<std::uint32_t>(i))]);
  }

  // The numbers 0 to n - 1 in random order.
  std::vector<index_t> permutation(index_t n) {
    std::vector<index_t> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), index_t{0});
    shuffle(numbers);
    return numbers;
  }

 private:
  // A number from 0 to most: words cut to its number of bits, until one fits.
  std::uint32_t up_to(std::uint32_t most) {
    const std::uint32_t mask = ~std::uint32_t{0} >> std::countl_zero(most);
    for (;;)
      if (const std::uint32_t number = static_cast<std::uint32_t>(engine_()) & mask; number <= most) return number;
  }

  std::mt19937 engine_;
};

}  // namespace gpunet::data
