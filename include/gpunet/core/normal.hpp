// Normally distributed numbers, bit for bit those of PyTorch's CPU generator.
#pragma once

#include <gpunet/core/random.hpp>

namespace gpunet {

namespace detail {

// Makes 16 uniform numbers normal (Box and Muller 1958).
void make_normal(float* values, float mean, float std);
void make_normal(double* values, double mean, double std);

}  // namespace detail

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

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/core/normal.ipp>
#endif
