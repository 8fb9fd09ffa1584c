// The order of a slice of floats on Host: transpositions in blocks.
#pragma once

#include <algorithm>

#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/transpose.hpp>
#include <gpunet/ops/interleave.hpp>

namespace gpunet {

namespace detail {

// from [rows][columns] -> to [columns][rows], both at least 4. The last blocks reach back where 4 is no divisor.
inline void transpose(index_t rows, index_t columns, const float* from, float* to) {
  for (index_t i = 0; i < rows; i += 4)
    for (index_t j = 0; j < columns; j += 4) {
      const index_t row = std::min(i, rows - 4), column = std::min(j, columns - 4);
      transpose_block(from + row * columns + column, columns, to + column * rows + row, rows);
    }
}

// Whether a slice is one full group of samples whose order a transposition changes.
inline bool is_full_group(const Slice& slice, index_t features) {
  return slice.outer == 1 && slice.count == slice.inner && slice.inner >= 4 && features >= 4;
}

}  // namespace detail

inline void interleave(Host& device, const Slice& slice, index_t features, const float* rows, float* y) {
  if (!detail::is_full_group(slice, features)) return interleave<Host, float>(device, slice, features, rows, y);
  detail::transpose(slice.inner, features, rows, y);
}

inline void deinterleave(Host& device, const Slice& slice, index_t features, const float* x, float* rows) {
  if (!detail::is_full_group(slice, features)) return deinterleave<Host, float>(device, slice, features, x, rows);
  detail::transpose(features, slice.inner, x, rows);
}

}  // namespace gpunet
