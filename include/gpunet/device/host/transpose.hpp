// Transposition of floats in registers.
#pragma once

#include <gpunet/device/host/isa_paths.hpp>

GPUNET_BEGIN_HOST_PRAGMAS
namespace gpunet::detail {

// A block of 4 x 4: from [4][...] with rows `from_row` apart to [4][...] with rows `to_row` apart.
inline void transpose_block(const float* from, index_t from_row, float* to, index_t to_row) {
  Vector4 row[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i)
    __builtin_memcpy(&row[i], from + i * from_row, sizeof row[i]);
  const Vector4 low01 = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5);
  const Vector4 high01 = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7);
  const Vector4 low23 = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
  const Vector4 high23 = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
  const Vector4 column[] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                            __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                            __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                            __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i)
    __builtin_memcpy(to + i * to_row, &column[i], sizeof column[i]);
}

}  // namespace gpunet::detail
GPUNET_END_HOST_PRAGMAS
