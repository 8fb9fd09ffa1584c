// How tensor cores round, and how far their products may be from exact ones.
#pragma once

#include <bit>
#include <cstdint>

#include <gpunet/device/device.hpp>

// tf32: 11 bits, ties away from zero; bf16: 8 bits, ties to even. For finite numbers.
inline float tensor_rounded(float value, gpunet::Precision precision) {
  const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
  if (precision == gpunet::Precision::tf32)
    return std::bit_cast<float>((word + 0x1000u) & 0xffffe000u);
  if (precision == gpunet::Precision::bf16)
    return std::bit_cast<float>((word + 0x7fffu + (word >> 16 & 1u)) & 0xffff0000u);
  return value;
}

// The relative error of products by a library of random factors of both signs (`relative_error`),
// against exact products.
//
// A factor with p bits behind the leading one is off by 2^-p of itself at most where hardware
// truncates it, 2^-(p + 1) where it rounds to nearest; a product of two by twice that. Errors do
// not depend on the signs of the factors, so those of a sum's terms add up as the terms do, and the
// bound holds for the Euclidean norm of many sums; a bias and a ReLU behind them only make it
// smaller. tf32 has p = 10: 2 * 2^-10 = 1.95e-3. bf16 has p = 7: 2 * 2^-7 = 1.56e-2. Exact ones are
// float: a sum of k terms one after another is off by sqrt(k / 2) * 2^-24 / sqrt(3), 5.5e-7 for
// k = 512, and by less in any other order.
inline double library_tolerance(gpunet::Precision precision) {
  return precision == gpunet::Precision::tf32   ? 2e-3
         : precision == gpunet::Precision::bf16 ? 2e-2
                                                : 1e-6;
}

// The relative error of sums of k products of rounded factors on tensor cores. Hardware does not
// round these sums: it aligns 8 or more terms with the largest number, cuts them off 2^-23 below
// it, and cuts off the sum (Fasi, Higham, Mikaitis, Pranesh 2021, "Numerical behavior of NVIDIA
// tensor cores"). Cutting off terms of both signs gives sqrt(k) * 2^-23 / 2 at most; the k / 8 sums
// are all cut off towards 0, k / 8 * 2^-23. From k = 16 on the two are less than k / 4 * 2^-23, and
// below that less than 1e-6.
inline double tensor_core_tolerance(gpunet::index_t k) {
  return 1e-6 + static_cast<double>(k) / 4 * 0x1p-23;
}
