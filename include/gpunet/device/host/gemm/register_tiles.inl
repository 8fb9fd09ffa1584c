// The register tiles of the matrix product, one vector path; see device/host/each_isa_path.inl and
// blocks.hpp.

namespace gpunet::GPUNET_PATH {

// Returns where vector v of a tile is in its row.
GPUNET_TARGET [[gnu::always_inline]] inline index_t column(int v, index_t group) {
  return v * GPUNET_LANES / 16 * group + v * GPUNET_LANES % 16;
}

// ROWS rows of C, VECTORS vectors wide: sums stay in registers; a is broadcast, b is read as
// vectors. Of a packed A the compiler knows the strides, which is worth a tenth.
template <int ROWS, int VECTORS, bool PACKED>
GPUNET_TARGET inline void multiply_tile(const detail::GemmTile& tile) {
  Vector sums[ROWS][VECTORS] = {};
  for (int i = 0; i < ROWS; ++i)
    for (int v = 0; v < VECTORS; ++v)
      __builtin_prefetch(tile.c + i * tile.c_row + column(v, tile.c_group), 1);

  const index_t a_row = PACKED ? 1 : tile.a_row, a_step = PACKED ? ROWS : tile.a_step;
  const float* a = tile.a;
  const float* b = tile.b;
  const float* next = tile.next;
#pragma GCC unroll 1
  for (index_t k = tile.k; k > 0; --k, a += a_step, b += tile.b_row, next += 16) {
    __builtin_prefetch(next, 0, 2);
    Vector values[VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; ++v)
      values[v] = load(b + column(v, tile.b_group));
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; ++i) {
      const float factor = a[i * a_row];
#pragma GCC unroll 4
      for (int v = 0; v < VECTORS; ++v)
        sums[i][v] += factor * values[v];
    }
  }

  if (tile.beta != 0) {
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < VECTORS; ++v)
        sums[i][v] += tile.beta * load(tile.c + i * tile.c_row + column(v, tile.c_group));
  }
  if (tile.bias || tile.range.clamps()) {
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; ++i) {
      const float bias = tile.bias ? tile.bias[i] : -0.0f;
#pragma GCC unroll 4
      for (int v = 0; v < VECTORS; ++v)
        sums[i][v] = clamp(sums[i][v] + bias, tile.range.low, tile.range.high);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; ++v)
      store(tile.c + i * tile.c_row + column(v, tile.c_group), sums[i][v]);
}

// The sums that fit beside the operands.
#if GPUNET_LANES == 16
inline constexpr detail::GemmKernels gemm_kernels{
    12,
    8,
    32,
    16,
    {multiply_tile<12, 2, true>, multiply_tile<12, 1, true>},
    {multiply_tile<8, 2, false>, multiply_tile<8, 1, false>}};
#elif GPUNET_LANES == 8
inline constexpr detail::GemmKernels gemm_kernels{
    6, 4, 16, 16, {multiply_tile<6, 2, true>}, {multiply_tile<4, 2, false>}};
#else
inline constexpr detail::GemmKernels gemm_kernels{
    4, 4, 8, 8, {multiply_tile<4, 2, false>}, {multiply_tile<4, 2, false>}};
#endif

}  // namespace gpunet::GPUNET_PATH
