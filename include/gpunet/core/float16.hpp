// Floating-point numbers of 16 bits, which store values that are computed as floats.
#pragma once

#include <cstdint>

#include <gpunet/core/config.hpp>

namespace gpunet {

namespace detail {

// All functions are free of branches, so that loops over them become vectors, and right where
// subnormal floats count as 0.

GPUNET_FN constexpr std::uint32_t bits_of_float(float x) {
  return __builtin_bit_cast(std::uint32_t, x);
}
GPUNET_FN constexpr float float_of_bits(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

// Converts a bfloat16, the upper half of a binary32.
GPUNET_FN constexpr float bfloat_to_float(std::uint16_t bfloat) {
  return float_of_bits(std::uint32_t{bfloat} << 16);
}

// Rounds to the nearest bfloat16, ties to even. NaN becomes a quiet NaN with its sign and upper
// bits.
GPUNET_FN constexpr std::uint16_t float_to_bfloat(float x) {
  const std::uint32_t bits = bits_of_float(x), rounded = bits + 0x7FFFu + (bits >> 16 & 1u);
  const bool is_nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
  return static_cast<std::uint16_t>((is_nan ? bits | 0x400000u : rounded) >> 16);
}

// Returns `yes` or `no`. Where one of them is computed in floats, compilers make a branch of ?:.
GPUNET_FN constexpr std::uint32_t select(bool condition, std::uint32_t yes, std::uint32_t no) {
  const std::uint32_t mask = 0u - static_cast<std::uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

// Converts an IEEE 754 binary16: 1 sign bit, 5 exponent bits (bias 15), 10 fraction bits.
GPUNET_FN constexpr float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16, rest = half & 0x7FFFu;
  // A bias of 127; infinity and NaN have the largest exponent here, too.
  const std::uint32_t normal =
      (rest << 13) + (112u << 23) + select(rest >= 0x7C00u, 112u << 23, 0u);
  // Below 2^-14 a half is a multiple of 2^-24, as are the floats of [0.5, 1).
  const std::uint32_t tiny = bits_of_float(float_of_bits(0x3F000000u + (rest & 0x3FFu)) - 0.5f);
  return float_of_bits(sign | select(rest < 0x400u, tiny, normal));
}

// Rounds to the nearest binary16, ties to even; from 65520 on the result is infinite. NaN becomes
// 0x7E00 with its sign.
GPUNET_FN constexpr std::uint16_t float_to_half(float x) {
  const std::uint32_t bits = bits_of_float(x), sign = bits >> 16 & 0x8000u,
                      rest = bits & 0x7FFFFFFFu;
  const std::uint32_t normal = (rest + 0xFFFu + (rest >> 13 & 1u) - (112u << 23)) >> 13;
  // As above: adding 0.5 rounds.
  const bool is_tiny = rest < 0x38800000u;
  const std::uint32_t tiny = bits_of_float(float_of_bits(is_tiny ? rest : 0u) + 0.5f) - 0x3F000000u;
  const std::uint32_t finite = is_tiny ? tiny : normal;
  const std::uint32_t magnitude = rest > 0x7F800000u    ? 0x7E00u
                                  : rest >= 0x477FF000u ? 0x7C00u
                                                        : finite;
  return static_cast<std::uint16_t>(sign | magnitude);
}

}  // namespace detail

// The upper half of a float: its range, and 8 significant bits. It stores; to compute, convert it.
struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  // Rounds to the nearest number, ties to even.
  GPUNET_FN constexpr explicit bfloat16(float x) : bits(detail::float_to_bfloat(x)) {}
  // Returns the number with these bits.
  static GPUNET_FN constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 x;
    x.bits = bits;
    return x;
  }
  GPUNET_FN constexpr operator float() const { return detail::bfloat_to_float(bits); }
};

// An IEEE 754 binary16: 11 significant bits, up to 65504, and steps of 2^-24 near 0. It stores; to
// compute, convert it.
struct float16 {
  std::uint16_t bits = 0;

  float16() = default;
  // Rounds to the nearest number, ties to even; from 65520 on the result is infinite.
  GPUNET_FN constexpr explicit float16(float x) : bits(detail::float_to_half(x)) {}
  // Returns the number with these bits.
  static GPUNET_FN constexpr float16 from_bits(std::uint16_t bits) {
    float16 x;
    x.bits = bits;
    return x;
  }
  GPUNET_FN constexpr operator float() const { return detail::half_to_float(bits); }
};

}  // namespace gpunet
