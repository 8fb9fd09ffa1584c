// The functions of vector_math.inl for single floats: without branches and calls, so that compilers
// vectorize loops over them.
#pragma once

#include <cstdint>
#include <limits>

#include <gpunet/core/config.hpp>

namespace gpunet::scalar {

using Vector = float;
using Mask = std::int32_t;

[[gnu::always_inline]] inline Mask as_mask(bool is_true) {
  return -Mask{is_true};
}
[[gnu::always_inline]] inline Vector to_floats(Mask integer) {
  return static_cast<Vector>(integer);
}
// v where the mask is set, else 0.
[[gnu::always_inline]] inline Vector keep(Vector v, Mask mask) {
  Mask bits;
  __builtin_memcpy(&bits, &v, sizeof v);
  bits &= mask;
  __builtin_memcpy(&v, &bits, sizeof v);
  return v;
}
// a where the mask is set, else b. Not by ?:, because compilers compute the number that is chosen
// in a branch, and do not vectorize that.
[[gnu::always_inline]] inline Vector select(Mask mask, Vector a, Vector b) {
  Mask bits_a, bits_b;
  __builtin_memcpy(&bits_a, &a, sizeof a);
  __builtin_memcpy(&bits_b, &b, sizeof b);
  bits_b ^= (bits_a ^ bits_b) & mask;
  __builtin_memcpy(&b, &bits_b, sizeof b);
  return b;
}

}  // namespace gpunet::scalar

#define GPUNET_PATH scalar
#define GPUNET_TARGET
#include <gpunet/device/host/vector_math.inl>
#undef GPUNET_PATH
#undef GPUNET_TARGET
