// Arrays of random numbers, bitwise as in tensors of PyTorch on a CPU.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <gpunet/core/random.hpp>

namespace gpunet {

namespace detail {

// Make n uniform numbers between low and high of random words: of one each for float, of two for
// double.
void make_uniform(const std::uint32_t* words, index_t n, float* values, float low, float high);
void make_uniform(const std::uint32_t* words, index_t n, double* values, double low, double high);

// Transform uniform numbers from 0 to 1 into normal ones (Box and Muller 1958), 16 by 16. n is a
// multiple of 16.
void make_normal(index_t n, float* values, float mean, float std);
void make_normal(index_t n, double* values, double mean, double std);

}  // namespace detail

// Draws n uniform numbers between low and high, as a tensor's uniform_(low, high): the same numbers
// as n calls of generator.uniform().
template <class T>
requires(std::same_as<T, float> ||
         std::same_as<T, double>) void draw_uniform(Generator& generator, index_t n, T* values,
                                                    std::type_identity_t<T> low,
                                                    std::type_identity_t<T> high) {
  constexpr index_t most = 2048;  // words, which stay in the L1 cache
  constexpr index_t words_each = sizeof(T) / sizeof(std::uint32_t);
  std::array<std::uint32_t, most> words;
  for (index_t i = 0; i < n; i += most / words_each) {
    const index_t some = std::min(n - i, most / words_each);
    generator.random(words.data(), some * words_each);
    detail::make_uniform(words.data(), some, values + i, low, high);
  }
}

// Draws n normal numbers as a tensor's normal_(mean, std): fewer than 16 one by one in double; else
// in blocks of 16. If n is not a multiple of 16, the last block is drawn again for the last 16
// elements.
template <class T>
requires(std::same_as<T, float> ||
         std::same_as<T, double>) void draw_normal(Generator& generator, index_t n, T* values,
                                                   double mean, double std) {
  constexpr index_t block = 16;
  if (n < block) {
    for (index_t i = 0; i < n; ++i)
      values[i] = static_cast<T>(generator.normal(mean, std));
    return;
  }
  const T m = static_cast<T>(mean), s = static_cast<T>(std);
  draw_uniform(generator, n, values, 0, 1);
  detail::make_normal(n / block * block, values, m, s);
  if (n % block == 0) return;
  draw_uniform(generator, block, values + n - block, 0, 1);
  detail::make_normal(block, values + n - block, m, s);
}

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/device/host/draw.ipp>
#endif
