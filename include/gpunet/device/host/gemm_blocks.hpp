// The inner part of the matrix product on Host: register tiles and the loops over them. No threads, no memory.
#pragma once

#include <algorithm>

#include <gpunet/device/host/paths.hpp>

namespace gpunet::detail {

// A tile of C += A B, as the register kernels see it. Element (i, k) of A is at i a_row + k a_step; columns of B and C
// come in groups of 16: (k, j) of B is at k b_row + j / 16 b_group + j % 16, C alike.
struct GemmTile {
  index_t k;
  const float* a;
  index_t a_row, a_step;
  const float* b;
  index_t b_row, b_group;
  float* c;
  index_t c_row, c_group;
  const float* next;  // what is wanted in the second cache soon: k cache lines
  float beta;         // C = A B + beta C; with 0, C is not read
  const float* bias;  // one per row, or null
  bool relu;
};

// The register kernels of one vector path. Tiles are `tall` or `low` rows high, for an A in place `low` only, and `wide`
// or `narrow` columns wide.
struct GemmKernels {
  using Kernel = void (*)(const GemmTile&);
  index_t tall, low;
  index_t wide, narrow;
  Kernel tall_kernels[2], low_kernels[2];  // wide, narrow; the tall ones want A packed

  // The height of the next tile when `rows` are left: what is 2 low or more is made up of both with little waste.
  index_t height(index_t rows) const { return rows <= low || (rows > tall && rows <= 2 * low) ? low : tall; }
  index_t width(index_t columns) const { return columns <= narrow && narrow < wide ? narrow : wide; }
  Kernel kernel(index_t height, index_t width) const {
    return (height == tall ? tall_kernels : low_kernels)[width == wide ? 0 : 1];
  }
};

}  // namespace gpunet::detail

#define GPUNET_KERNELS <gpunet/device/host/gemm_kernels.inl>
#include <gpunet/device/host/each_path.inl>

namespace gpunet::detail {

// The kernels of the path in use.
inline const GemmKernels& gemm_kernels() {
#if GPUNET_X86
  return isa() == Isa::avx512 ? avx512::gemm_kernels
         : isa() == Isa::avx2 ? avx2::gemm_kernels
                              : baseline::gemm_kernels;
#else
  return baseline::gemm_kernels;
#endif
}

inline constexpr index_t gemm_depth = 256;     // most of K in a block: a tile of B then stays in the first cache
inline constexpr index_t gemm_most_tall = 12;  // rows of the tallest tile of any path
inline constexpr index_t gemm_most_wide = 32;

// A block of C = A B + beta C with K at most gemm_depth, on this thread. B is in groups of 16 columns, each of them whole
// (as slices lie, or as pack_columns() makes them). A is in place, or packed by pack_rows().
struct GemmBlock {
  index_t m, n, k;
  const float* a;
  bool packed;
  index_t a_row, a_step;  // where A is in place
  const float* b;
  index_t b_row, b_group;
  float* c;
  index_t c_row, c_group;
  float beta;
  const float* bias;
  bool relu;
};

// A tile that hangs over the edge of C, or of an A in place: through buffers that do not.
[[gnu::noinline]] inline void multiply_edge(GemmKernels::Kernel kernel, const GemmTile& tile, bool packed,
                                            index_t height, index_t rows, index_t columns) {
  float a[gemm_most_tall * gemm_depth], c[gemm_most_tall * gemm_most_wide] = {}, bias[gemm_most_tall] = {};
  GemmTile inside = tile;
  if (!packed && rows < height) {
    for (index_t k = 0; k < tile.k; ++k)
      for (index_t i = 0; i < height; ++i)
        a[k * height + i] = i < rows ? tile.a[i * tile.a_row + k * tile.a_step] : 0;
    inside.a = a;
    inside.a_row = 1;
    inside.a_step = height;
  }
  inside.c = c;
  inside.c_row = gemm_most_wide;
  inside.c_group = 16;
  if (tile.bias) inside.bias = std::copy_n(tile.bias, rows, bias) - rows;
  for (index_t j = 0; j < columns; j += 16) {
    const index_t width = std::min<index_t>(16, columns - j);
    for (index_t i = 0; tile.beta != 0 && i < rows; ++i)
      std::copy_n(tile.c + i * tile.c_row + j / 16 * tile.c_group, width, c + i * gemm_most_wide + j);
  }
  kernel(inside);
  for (index_t j = 0; j < columns; j += 16) {
    const index_t width = std::min<index_t>(16, columns - j);
    for (index_t i = 0; i < rows; ++i)
      std::copy_n(c + i * gemm_most_wide + j, width, tile.c + i * tile.c_row + j / 16 * tile.c_group);
  }
}

inline void multiply_tile(const GemmKernels& kernels, const GemmBlock& block, index_t i, index_t height, index_t j,
                          const float* next) {
  const index_t rows = std::min(height, block.m - i), columns = std::min(kernels.wide, block.n - j);
  const index_t width = kernels.width(columns);
  const GemmTile tile{block.k,
                      block.a + i * (block.packed ? block.k : block.a_row),
                      block.packed ? 1 : block.a_row,
                      block.packed ? height : block.a_step,
                      block.b + j / 16 * block.b_group + j % 16,
                      block.b_row,
                      block.b_group,
                      block.c + i * block.c_row + j / 16 * block.c_group + j % 16,
                      block.c_row,
                      block.c_group,
                      next,
                      block.beta,
                      block.bias ? block.bias + i : nullptr,
                      block.relu};
  const auto kernel = kernels.kernel(height, width);
  if (rows == height && columns == width) return kernel(tile);
  multiply_edge(kernel, tile, block.packed, height, rows, columns);
}

// A tile of B stays in the first cache while A, in the second, goes by.
inline void multiply_block(const GemmBlock& block) {
  const GemmKernels& kernels = gemm_kernels();
  for (index_t j = 0; j < block.n; j += kernels.wide) {
    // Where B goes on: its next columns, or after the last ones the next block of K.
    const float* next = j + kernels.wide < block.n ? block.b + (j + kernels.wide) / 16 * block.b_group
                                                   : block.b + block.k * block.b_row;
    for (index_t i = 0, height; i < block.m; i += height, next += block.b_group) {
      height = block.packed ? kernels.height(block.m - i) : kernels.low;
      const bool wanted = i < kernels.wide / 16 * kernels.tall;
      multiply_tile(kernels, block, i, height, j, wanted ? next : block.a);
    }
  }
}

}  // namespace gpunet::detail
