// The arithmetic of a tile of a matrix product, by multiply-adds in full precision.
#pragma once

#include <gpunet/core/config.hpp>

namespace gpunet::detail {

// Four neighbors of a row, read and written at once.
template <class T>
struct alignas(16) Four {
  T values[4];
};

// How a block of threads computes a tile of C [M, N], K products at a time: every thread has Rows x
// Columns sums, and `Slices` groups of threads share the K products of a round. All are multiples
// of 4.
//
// The members of an arithmetic that a block needs, of this one as of TensorMath:
//   Word, per_word, k_rows   a step of K as it lies in shared memory: k_rows rows of words, each
//                            of per_word neighbors in k
//   pack(values)             such a word
//   Sums, multiply           the sums of a thread, and their arithmetic
//   groups, finish           the sums in the end, in groups of four neighboring columns
//   row(g)                   where in the tile group g of this thread lies
//   columns, column(c), column_of(g)
//                            which columns the thread has, and which of them group g is in
template <class T_, int M_, int N_, int K_, int Rows, int Columns, int Slices>
struct ScalarMath {
  using T = T_;
  using Word = T;
  static constexpr int M = M_, N = N_, K = K_;
  static constexpr int per_word = 1, k_rows = K;
  // Of a row of words: rows begin in other banks, and stay aligned.
  static constexpr int padding = 4;
  static constexpr int across = N / Columns, down = M / Rows;
  static constexpr int slice_threads = across * down, threads = slice_threads * Slices;
  static constexpr int all_groups = Rows * Columns / 4, groups = all_groups / Slices;
  // finish() needs this many Four<T>.
  static constexpr int shared_groups = Slices > 1 ? all_groups* threads : 0;
  static constexpr int columns = Columns / 4;
  static_assert(Rows % 4 == 0 && Columns % 4 == 0 && all_groups % Slices == 0 && K % Slices == 0);
  static_assert(Slices == 1 || columns == 1);

  struct Sums {
    T values[Rows][Columns] = {};
  };

  __device__ static Word pack(const T* values) { return *values; }

  // sums += A B where a [K][M + padding] and b [K][N + padding].
  __device__ static void multiply(const Word* a, const Word* b, Sums& sums) {
    const int thread = slice_thread(), left = thread % across * 4, top = thread / across * 4;
    constexpr int together = Rows * Columns >= 64 ? 2 : 4;
#pragma unroll together
    for (int step = 0; step < K / Slices; ++step) {
      const int k = step * Slices + slice();
      Four<T> rows[Rows / 4], columns[Columns / 4];
#pragma unroll
      for (int i = 0; i < Rows / 4; ++i)
        rows[i] = *reinterpret_cast<const Four<T>*>(a + k * (M + padding) + i * down * 4 + top);
#pragma unroll
      for (int j = 0; j < Columns / 4; ++j)
        columns[j] =
            *reinterpret_cast<const Four<T>*>(b + k * (N + padding) + j * across * 4 + left);
#pragma unroll
      for (int i = 0; i < Rows; ++i)
#pragma unroll
        for (int j = 0; j < Columns; ++j)
          sums.values[i][j] += rows[i / 4].values[i % 4] * columns[j / 4].values[j % 4];
    }
  }

  // The thread's groups of the tile: where slices share the sums, each adds up its part of them,
  // slice by slice.
  __device__ static void finish(const Sums& sums, Four<T> (&result)[groups], void* shared) {
    if constexpr (Slices == 1) {
#pragma unroll
      for (int g = 0; g < groups; ++g)
        result[g] = group(sums, g);
    } else {
      Four<T>* all = static_cast<Four<T>*>(shared);  // [slice][group][thread]
#pragma unroll
      for (int g = 0; g < all_groups; ++g)
        all[(slice() * all_groups + g) * slice_threads + slice_thread()] = group(sums, g);
      __syncthreads();
#pragma unroll
      for (int g = 0; g < groups; ++g) {
        const Four<T>* from = all + (slice() * groups + g) * slice_threads + slice_thread();
        result[g] = *from;
        for (int other = 1; other < Slices; ++other)
#pragma unroll
          for (int q = 0; q < 4; ++q)
            result[g].values[q] += from[other * all_groups * slice_threads].values[q];
      }
    }
  }
  __device__ static int row(int g) {
    const int r = (slice() * groups + g) / columns;
    return r / 4 * down * 4 + slice_thread() / across * 4 + r % 4;
  }
  __device__ static int column(int c) {
    return c * across * 4 + slice_thread() % across * 4;
  }
  __device__ static constexpr int column_of(int g) {
    return g % columns;
  }

 private:
  __device__ static int slice() {
    return Slices == 1 ? 0 : static_cast<int>(threadIdx.x) / slice_threads;
  }
  __device__ static int slice_thread() {
    return static_cast<int>(threadIdx.x) % slice_threads;
  }
  __device__ static Four<T> group(const Sums& sums, int g) {
    Four<T> four;
#pragma unroll
    for (int q = 0; q < 4; ++q)
      four.values[q] = sums.values[g / columns][g % columns * 4 + q];
    return four;
  }
};

}  // namespace gpunet::detail
