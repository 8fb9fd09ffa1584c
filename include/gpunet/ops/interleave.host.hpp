// The order of a slice of floats on Host: transpositions in blocks.
#pragma once

#include <algorithm>

#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/paths.hpp>
#include <gpunet/ops/interleave.hpp>

namespace gpunet {

namespace detail {

// A block of 4 x 4: from [4][...] with rows `from_row` apart to [4][...] with rows `to_row` apart.
inline void transpose_block(const float* from, index_t from_row, float* to, index_t to_row) {
  Vector4 row[4];
  for (int i = 0; i < 4; ++i)
    __builtin_memcpy(&row[i], from + i * from_row, sizeof row[i]);
  const Vector4 low01 = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5);
  const Vector4 high01 = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7);
  const Vector4 low23 = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
  const Vector4 high23 = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
  const Vector4 column[] = {
      __builtin_shufflevector(low01, low23, 0, 1, 4, 5), __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
      __builtin_shufflevector(high01, high23, 0, 1, 4, 5), __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i)
    __builtin_memcpy(to + i * to_row, &column[i], sizeof column[i]);
}

// from [rows][columns] -> to [columns][rows], both at least 4. The last blocks reach back where 4 is no divisor.
inline void transpose(index_t rows, index_t columns, const float* from, float* to) {
  for (index_t i = 0; i < rows; i += 4)
    for (index_t j = 0; j < columns; j += 4) {
      const index_t row = std::min(i, rows - 4), column = std::min(j, columns - 4);
      transpose_block(from + row * columns + column, columns, to + column * rows + row, rows);
    }
}

// task(group, its first sample, its samples) for every group of `inner` samples; on several threads where the slice
// has `elements` enough.
template <class Task>
void for_each_group(Host& device, const Slice& slice, index_t elements, Task task) {
  const auto run = [&](index_t group, int) {
    const index_t first = group * slice.inner;
    task(group, first, std::clamp(slice.count - first, index_t{0}, slice.inner));
  };
  if (elements >= 1 << 16) return device.run(slice.outer, run);
  for (index_t group = 0; group < slice.outer; ++group)
    run(group, 0);
}

}  // namespace detail

inline void interleave(Host& device, const Slice& slice, index_t features, const float* rows, float* y) {
  if (slice.inner < 4 || features < 4) return interleave<Host, float>(device, slice, features, rows, y);
  const index_t size = slice.inner * features;
  detail::for_each_group(device, slice, slice.outer * size, [&](index_t group, index_t first, index_t count) {
    if (count == slice.inner)
      detail::transpose(slice.inner, features, rows + first * features, y + group * size);
    else
      interleave<Host, float>(device, {count, 1, slice.inner}, features, rows + first * features, y + group * size);
  });
}

inline void deinterleave(Host& device, const Slice& slice, index_t features, const float* x, float* rows) {
  if (slice.inner < 4 || features < 4) return deinterleave<Host, float>(device, slice, features, x, rows);
  const index_t size = slice.inner * features;
  detail::for_each_group(device, slice, slice.outer * size, [&](index_t group, index_t first, index_t count) {
    if (count == slice.inner)
      detail::transpose(features, slice.inner, x + group * size, rows + first * features);
    else
      deinterleave<Host, float>(device, {count, 1, slice.inner}, features, x + group * size,
                                rows + first * features);
  });
}

}  // namespace gpunet
