// Operands of the matrix product on Host, and how they are put in order for the register kernels.
#pragma once

#include <algorithm>

#include <gpunet/device/gemm.hpp>
#include <gpunet/device/host/gemm_blocks.hpp>
#include <gpunet/device/host/transpose.hpp>

namespace gpunet::detail {

// A matrix whose columns come in groups of 16: element (i, j) is at i row + j / 16 group + j % 16. A plain one has group
// 16; a slice of 16 samples a group is a matrix [features, samples] with row 16 and group 16 features.
template <class T>
struct GroupedMatrix {
  T* data;
  index_t row;
  index_t group = 16;

  T* at(index_t i, index_t j) const { return data + i * row + j / 16 * group + j % 16; }
};
using GemmOperand = GroupedMatrix<const float>;

// Rows of `width` floats, `to_row` apart, from [width, depth] with rows `from_row` apart: to(k, i) = from(i, k). Where
// rows < width the others are zero.
inline void pack_transposed(index_t rows, index_t width, index_t depth, const float* from, index_t from_row,
                            float* to) {
  const index_t whole = rows == width ? depth / 4 * 4 : 0;
  for (index_t next = 0; next < width; next += 4) {
    const index_t i = std::min(next, width - 4);
    for (index_t k = 0; k < whole; k += 4)
      transpose_block(from + i * from_row + k, from_row, to + k * width + i, width);
  }
  for (index_t k = whole; k < depth; ++k)
    for (index_t i = 0; i < width; ++i)
      to[k * width + i] = i < rows ? from[i * from_row + k] : 0;
}

// The same from [depth, width] with rows `from_row` apart: to(k, i) = from(k, i).
template <index_t Width>
void pack_rows_of(index_t depth, const float* from, index_t from_row, float* to) {
  for (index_t k = 0; k < depth; ++k)
    __builtin_memcpy(to + k * Width, from + k * from_row, Width * sizeof(float));
}
inline void pack_straight(index_t columns, index_t width, index_t depth, const float* from, index_t from_row,
                          float* to) {
  if (columns == width && width == 16) return pack_rows_of<16>(depth, from, from_row, to);
  if (columns == width && width == 12) return pack_rows_of<12>(depth, from, from_row, to);
  if (columns == width && width == 8) return pack_rows_of<8>(depth, from, from_row, to);
  for (index_t k = 0; k < depth; ++k)
    for (index_t i = 0; i < width; ++i)
      to[k * width + i] = i < columns ? from[k * from_row + i] : 0;
}

// `width` rows of op(matrix) from row i on, of which `rows` exist, columns k to k + depth: to [depth][width]. k is a
// multiple of 16.
inline void pack_panel(const GemmOperand& matrix, Transpose transpose, index_t i, index_t rows, index_t width,
                       index_t k, index_t depth, float* to) {
  if (transpose == Transpose::yes) return pack_straight(rows, width, depth, matrix.at(k, i), matrix.row, to);
  const index_t step = matrix.group == 16 ? depth : 16;
  for (index_t done = 0; done < depth; done += step)
    pack_transposed(rows, width, std::min(step, depth - done), matrix.at(i, k + done), matrix.row,
                    to + done * width);
}

// Where a matrix is read along its rows, a few of them go to all panels before the next: neighbours share cache lines and
// pages.
inline index_t pack_depth(Transpose transpose, index_t depth) {
  return transpose == Transpose::yes ? 8 : depth;
}

// Rows begin to end of op(A), columns k to k + depth, as the tiles of a packed GemmBlock.
inline void pack_rows(const GemmOperand& a, Transpose transpose, index_t begin, index_t end, index_t k,
                      index_t depth, float* to) {
  const GemmKernels& kernels = gemm_kernels();
  const index_t step = pack_depth(transpose, depth);
  for (index_t done = 0; done < depth; done += step) {
    float* panel = to;
    for (index_t i = begin, height; i < end; i += height, panel += height * depth) {
      height = kernels.height(end - i);
      pack_panel(a, transpose, i, std::min(height, end - i), height, k + done, std::min(step, depth - done),
                 panel + done * height);
    }
  }
}

// Groups of 16 columns of op(B) [depth, columns], of which `columns` exist: to [group][depth][16], from column `begin` to
// `end`.
inline void pack_columns(const GemmOperand& b, Transpose transpose, index_t begin, index_t end, index_t depth,
                         float* to) {
  const Transpose other = transpose == Transpose::yes ? Transpose::no : Transpose::yes;
  const index_t step = pack_depth(other, depth);
  for (index_t done = 0; done < depth; done += step) {
    float* panel = to + done * 16;
    for (index_t j = begin; j < end; j += 16, panel += 16 * depth)
      pack_panel(b, other, j, std::min<index_t>(16, end - j), 16, done, std::min(step, depth - done), panel);
  }
}

}  // namespace gpunet::detail
