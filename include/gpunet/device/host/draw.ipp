// Bodies of draw.hpp.
#pragma once

#include <cmath>
#include <numbers>

#include <gpunet/device/host/draw.hpp>
#include <gpunet/device/host/isa_paths.hpp>

#define GPUNET_KERNELS <gpunet/device/host/draw.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet::detail {

GPUNET_INLINE void make_uniform(const std::uint32_t* words, index_t n, float* values, float low,
                                float high) {
  GPUNET_CALL_PATH(n, make_uniform, words, n, values, low, high);
}
GPUNET_INLINE void make_uniform(const std::uint32_t* words, index_t n, double* values, double low,
                                double high) {
  GPUNET_CALL_PATH(n, make_uniform, words, n, values, low, high);
}

GPUNET_INLINE void make_normal(index_t n, float* values, float mean, float std) {
  GPUNET_CALL_PATH(n, make_normal, n, values, mean, std);
}
GPUNET_INLINE void make_normal(index_t n, double* values, double mean, double std) {
  for (double* const end = values + n; values < end; values += 16)
    for (int i = 0; i < 8; ++i) {
      const double radius = std::sqrt(-2 * std::log(1 - values[i])),
                   angle = 2 * std::numbers::pi * values[i + 8];
      values[i] = std::fma(radius * std::cos(angle), std, mean);
      values[i + 8] = std::fma(radius * std::sin(angle), std, mean);
    }
}

}  // namespace gpunet::detail
