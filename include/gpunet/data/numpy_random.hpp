// NumPy's legacy generator of random numbers, which scikit-learn uses.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <gpunet/core/math.hpp>
#include <gpunet/core/random.hpp>

namespace gpunet::data::detail {

// numpy.random.RandomState(seed): a Mersenne twister, as PyTorch's, but with other algorithms on
// top. For fewer than 2^32 numbers.
class NumpyRandomState {
 public:
  explicit NumpyRandomState(std::uint32_t seed) { engine_.seed(seed); }
  // Without a seed, the default generator draws one.
  explicit NumpyRandomState(std::optional<std::uint32_t> seed)
      : NumpyRandomState(seed ? *seed : any_seed()) {}

  void shuffle(std::vector<index_t>& numbers) {
    for (std::size_t i = numbers.size(); i-- > 1;)
      std::swap(numbers[i], numbers[up_to(static_cast<std::uint32_t>(i))]);
  }

  // Returns the numbers 0 to n - 1 in random order.
  std::vector<index_t> permutation(index_t n) {
    std::vector<index_t> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), index_t{0});
    shuffle(numbers);
    return numbers;
  }

 private:
  static std::uint32_t any_seed() {
    const auto lock = default_generator().lock();
    return default_generator().random();
  }
  // Returns a number from 0 to `most`: random words, masked to its number of bits, until one is in
  // range.
  std::uint32_t up_to(std::uint32_t most) {
    const std::uint32_t mask = ~std::uint32_t{0} >> std::countl_zero(most);
    for (;;)
      if (const std::uint32_t number = engine_() & mask; number <= most) return number;
  }

  gpunet::detail::MersenneTwister engine_;
};

}  // namespace gpunet::data::detail
