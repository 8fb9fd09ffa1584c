// Index loops with a random number for each element.
#pragma once

#include <algorithm>
#include <type_traits>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

namespace detail {

// Refuses a functor that cannot be called as f(i, u) by static_assert.
template <class F>
constexpr void check_random_functor() {
  static_assert(
      requires(const F& f, index_t i, float u) { f(i, u); },
      "gpunet::for_each_random: the functor does not take an index and a number, or is not const, "
      "write GPUNET_FN void operator()(index_t i, float random) const");
}

// Calls f(i, u) for one sample of a slice in a block of features. One index = one sample and block.
template <class F>
struct RandomBlock {
  OpRandom random;
  index_t inner;
  F f;
  std::uint32_t draw;
  GPUNET_FN void operator()(index_t j) const {
    const index_t row = j / inner, n = j % inner, group = row / random.blocks(),
                  block = row % random.blocks();
    const PhiloxWords words = random.words(group * inner + n, block, draw);
    for (index_t k = 0; k < OpRandom::per_block; ++k) {
      const index_t feature = block * OpRandom::per_block + k;
      if (feature < random.features())
        f((group * random.features() + feature) * inner + n, OpRandom::uniform_of(words.words[k]));
    }
  }
};

// The same for all samples that are innermost, whose numbers are computed in vectors. One
// index = one group and block.
template <class F>
struct RandomRows {
  OpRandom random;
  index_t inner;
  F f;
  std::uint32_t draw;
  void operator()(index_t row) const {
    constexpr index_t most_inner = 16;  // see DeviceTraits<Host>
    const index_t group = row / random.blocks(), block = row % random.blocks();
    const index_t first = block * OpRandom::per_block;
    const index_t count = std::min(OpRandom::per_block, random.features() - first);
    for (index_t begin = 0; begin < inner; begin += most_inner) {
      const index_t size = std::min(most_inner, inner - begin);
      float numbers[OpRandom::per_block][most_inner];
      for (index_t n = 0; n < size; ++n) {
        const PhiloxWords words = random.words(group * inner + begin + n, block, draw);
        for (index_t k = 0; k < OpRandom::per_block; ++k)
          numbers[k][n] = OpRandom::uniform_of(words.words[k]);
      }
      for (index_t k = 0; k < count; ++k)
        for (index_t n = 0; n < size; ++n)
          f((group * random.features() + first + k) * inner + begin + n, numbers[k][n]);
    }
  }
};

}  // namespace detail

// Calls f(i, u) for every element i of pass.y with a random number u from [0, 1),
// pass.random.uniform(i, draw). Requires uses_random in the op's traits. f is as for for_each.
template <class D, class F>
void for_each_random(D& device, const OpPass& pass, F f, std::uint32_t draw = 0) {
  detail::check_random_functor<F>();
  const OpRandom& random = pass.random;
  for_each(device, pass.slice.samples() * random.blocks(),
           detail::RandomBlock<F>{random, pass.slice.inner, f, draw});
}
template <class F>
void for_each_random(Host& device, const OpPass& pass, F f, std::uint32_t draw = 0) {
  detail::check_random_functor<F>();
  const OpRandom& random = pass.random;
  const detail::RandomRows<F> rows{random, pass.slice.inner, f, draw};
  const index_t count = pass.slice.outer * random.blocks(),
                per_row = OpRandom::per_block * pass.slice.inner;
  // Rows, of 2^13 elements.
  const index_t chunk = std::max((index_t{1} << 13) / per_row, index_t{1});
  const detail::Loop loop = detail::loop_over<detail::RandomRows<F>>();
  device.run_if(count > chunk, ceil_div(count, chunk),
                [&](index_t i, int) { loop(&rows, i * chunk, std::min(count, (i + 1) * chunk)); });
}

}  // namespace gpunet
