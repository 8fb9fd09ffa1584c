// The arithmetic of a tile of a matrix product, by tensor cores: factors rounded, sums in float.
#pragma once

#include <cstdint>

#include <gpunet/device/cuda/gemm/scalar_tile.cuh>

namespace gpunet::detail {

// The oldest architecture that has the instructions below. Code for older ones compiles, and is
// never launched.
inline constexpr int tensor_architecture = 80;

// Factors of 11 bits. A word is one.
struct Tf32 {
  static constexpr int per_word = 1;

  __device__ static std::uint32_t pack([[maybe_unused]] const float* values) {
    std::uint32_t word = 0;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(values[0]));
#endif
    return word;
  }
  // c += a b, for a [16, 8] and b [8, 8].
  __device__ static void multiply([[maybe_unused]] float (&c)[4],
                                  [[maybe_unused]] const std::uint32_t (&a)[4],
                                  [[maybe_unused]] const std::uint32_t (&b)[2]) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
  }
};

// Factors of 8 bits. A word is two of them, neighbors in k.
struct Bf16 {
  static constexpr int per_word = 2;

  __device__ static std::uint32_t pack([[maybe_unused]] const float* values) {
    std::uint32_t word = 0;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(values[1]), "f"(values[0]));
#endif
    return word;
  }
  // c += a b, for a [16, 16] and b [16, 8].
  __device__ static void multiply([[maybe_unused]] float (&c)[4],
                                  [[maybe_unused]] const std::uint32_t (&a)[4],
                                  [[maybe_unused]] const std::uint32_t (&b)[2]) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
  }
};

// A tile of C [M, N] by Down x Across warps, K products at a time; see ScalarMath for the names.
//
// The instruction multiplies 16 rows by 8 columns; which rows and columns these are is free. Rows r
// and r + 8 of an instruction are neighbors in the tile, and so are column c of two instructions:
// then a thread reads its factors in pairs, without conflicts between banks, and its sums are four
// neighboring columns, as pooling wants them.
template <class Factor, int M_, int N_, int K_, int Down, int Across>
struct TensorMath {
  using T = float;
  using Word = std::uint32_t;
  static constexpr int M = M_, N = N_, K = K_;
  static constexpr int per_word = Factor::per_word, k_rows = K / per_word;
  static constexpr int padding = 8;
  static constexpr int threads = 32 * Down * Across;
  static constexpr int tiles = M / Down / 16, pairs = N / Across / 16;
  static constexpr int groups = tiles * pairs * 2, columns = pairs, shared_groups = 0;
  static_assert(M % (16 * Down) == 0 && N % (16 * Across) == 0 && k_rows % 8 == 0);

  struct Sums {
    float values[tiles][pairs][2][4] = {};
  };

  __device__ static Word pack(const float* values) { return Factor::pack(values); }

  // sums += A B where a [k_rows][M + padding] and b [k_rows][N + padding].
  __device__ static void multiply(const Word* a, const Word* b, Sums& sums) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    a += lane % 4 * (M + padding) + top() + lane / 4 * 2;
    b += lane % 4 * (N + padding) + left() + lane / 4 * 2;
#pragma unroll
    for (int k = 0; k < k_rows; k += 8) {
      Word rows[tiles][4], columns[pairs][2][2];
#pragma unroll
      for (int i = 0; i < tiles; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const uint2 two =
              *reinterpret_cast<const uint2*>(a + (k + half * 4) * (M + padding) + i * 16);
          rows[i][half * 2] = two.x;
          rows[i][half * 2 + 1] = two.y;
        }
#pragma unroll
      for (int j = 0; j < pairs; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const uint2 two =
              *reinterpret_cast<const uint2*>(b + (k + half * 4) * (N + padding) + j * 16);
          columns[j][0][half] = two.x;
          columns[j][1][half] = two.y;
        }
#pragma unroll
      for (int i = 0; i < tiles; ++i)
#pragma unroll
        for (int j = 0; j < pairs; ++j)
#pragma unroll
          for (int which = 0; which < 2; ++which)
            Factor::multiply(sums.values[i][j][which], rows[i], columns[j][which]);
    }
  }

  __device__ static void finish(const Sums& sums, Four<float> (&result)[groups], void*) {
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      const auto& pair = sums.values[g / 2 / pairs][g / 2 % pairs];
#pragma unroll
      for (int q = 0; q < 4; ++q)
        result[g].values[q] = pair[q % 2][g % 2 * 2 + q / 2];
    }
  }
  __device__ static int row(int g) {
    return top() + g / 2 / pairs * 16 + static_cast<int>(threadIdx.x) % 32 / 4 * 2 + g % 2;
  }
  __device__ static int column(int c) {
    return left() + c * 16 + static_cast<int>(threadIdx.x) % 4 * 4;
  }
  __device__ static constexpr int column_of(int g) {
    return g / 2 % pairs;
  }

 private:
  // Where the part of the tile that this warp computes begins.
  __device__ static int top() {
    return static_cast<int>(threadIdx.x) / 32 / Across * (M / Down);
  }
  __device__ static int left() {
    return static_cast<int>(threadIdx.x) / 32 % Across * (N / Across);
  }
};

}  // namespace gpunet::detail
