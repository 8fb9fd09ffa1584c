// How tensor cores round the factors of a product.
#pragma once

#include <bit>
#include <cstdint>

#include <gpunet/device/device.hpp>

// tf32: 11 bits, ties away from zero; bf16: 8 bits, ties to even. For finite numbers.
inline float tensor_rounded(float value, gpunet::Precision precision) {
  const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
  if (precision == gpunet::Precision::tf32) return std::bit_cast<float>((word + 0x1000u) & 0xffffe000u);
  if (precision == gpunet::Precision::bf16)
    return std::bit_cast<float>((word + 0x7fffu + (word >> 16 & 1u)) & 0xffff0000u);
  return value;
}
