// Bodies of random_state.hpp.
#pragma once

#include <bit>
#include <numeric>
#include <utility>

#include <gpunet/data/random_state.hpp>

namespace gpunet::data {

GPUNET_INLINE void RandomState::shuffle(std::vector<index_t>& numbers) {
  for (std::size_t i = numbers.size(); i-- > 1;)
    std::swap(numbers[i], numbers[up_to(static_cast<std::uint32_t>(i))]);
}

GPUNET_INLINE std::vector<index_t> RandomState::permutation(index_t n) {
  std::vector<index_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), index_t{0});
  shuffle(numbers);
  return numbers;
}

GPUNET_INLINE std::uint32_t RandomState::up_to(std::uint32_t most) {
  const std::uint32_t mask = ~std::uint32_t{0} >> std::countl_zero(most);
  for (;;)
    if (const std::uint32_t number = engine_() & mask; number <= most) return number;
}

}  // namespace gpunet::data
