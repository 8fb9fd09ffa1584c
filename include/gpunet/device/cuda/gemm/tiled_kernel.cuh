// The kernel of matrix products: the factors of a tile, and the use of its sums.
#pragma once

#include <type_traits>
#include <utility>

#include <gpunet/core/long_sum.hpp>
#include <gpunet/device/cuda/gemm/tensor_core_tile.cuh>

namespace gpunet::detail {

// C [m, n] = A [m, k] B [k, n], cut into tiles, and each tile's sums over k into `splits` parts of
// `k_per_split`, a block each.
//
// An operand is a functor. i is a row of A, or a column of B:
//   along_k           whether neighbors in memory are neighbors in k, or else in i
//   outer(i)          a value of i alone; a thread computes it once
//   inner(k)          a value of k alone; a thread computes it for all others
//   load(outer, inner)
// An epilogue takes four neighboring columns of C at a time:
//   column(j)         a value of the columns j to j + 3 alone, j a multiple of 4
//   store(i, column, values, count)   for row i; the first `count` are columns of C
// It may also take the sums of the rows of A over k. Further blocks behind the tiles make them, one
// each, in double over runs of floats:
//   store_row_sum(i, sum)
template <class A_, class B_, class Epilogue_>
struct TiledProduct {
  using A = A_;
  using B = B_;
  using Epilogue = Epilogue_;
  using T = typename Epilogue::T;

  index_t m = 0, n = 0, k = 0;
  A a{};
  B b{};
  Epilogue epilogue{};
  index_t row_sums = 0;  // the rows of A whose sums the epilogue takes
  // Set by cut_product.
  index_t tiles_down = 0, tiles = 0, k_per_split = 0;
  int splits = 1;
  T* partials = nullptr;        // [split][tile][group][thread] of Four<T>
  unsigned* tickets = nullptr;  // of each tile: its finished parts; 0 before and after

  GPUNET_FN index_t blocks() const { return tiles * splits + row_sums; }
};

// The part of one operand, `extent` wide, that the threads of a block bring to shared memory.
template <class Math, class Operand, int extent>
struct Stage {
  using T = typename Math::T;
  using Word = typename Math::Word;
  using Inner = decltype(std::declval<const Operand&>().inner(0));
  using Outer = decltype(std::declval<const Operand&>().outer(0));
  static constexpr int k_rows = Math::k_rows, per_word = Math::per_word, threads = Math::threads;
  static constexpr int words = extent * k_rows, per_thread = words / threads;
  static constexpr int stride = extent + Math::padding;
  static constexpr int outers = Operand::along_k   ? per_thread
                                : extent > threads ? extent / threads
                                                   : 1;
  static_assert(words % threads == 0 && (threads % extent == 0 || extent % threads == 0) &&
                threads % k_rows == 0);

  Outer outer[outers];
  T values[per_thread][per_word];

  // Which word the thread's r-th is.
  __device__ static int index(int r) {
    const int word = static_cast<int>(threadIdx.x) + r * threads;
    return Operand::along_k ? word / k_rows : word % extent;
  }
  __device__ static int k_row(int r) {
    const int word = static_cast<int>(threadIdx.x) + r * threads;
    return Operand::along_k ? word % k_rows : word / extent;
  }

  // Rows beyond `size` take the place of the last one: nobody reads their sums.
  __device__ void start(const Operand& operand, index_t first, index_t size) {
#pragma unroll
    for (int r = 0; r < outers; ++r)
      outer[r] = operand.outer(min(first + index(r), size - 1));
  }
  // `left` of the step's products are there; the others' factors are 0.
  __device__ void load(const Operand& operand, const Inner* inner, int left) {
#pragma unroll
    for (int r = 0; r < per_thread; ++r)
#pragma unroll
      for (int q = 0; q < per_word; ++q) {
        const int k = k_row(r) * per_word + q;
        values[r][q] = k < left ? operand.load(outer[r % outers], inner[k]) : T{};
      }
  }
  __device__ void store(Word* target) const {
#pragma unroll
    for (int r = 0; r < per_thread; ++r)
      target[k_row(r) * stride + index(r)] = Math::pack(values[r]);
  }
};

// The shared memory of a block: two steps of factors, one to compute with and one to fill, and
// values of their k.
template <class Math, class P>
struct SharedSteps {
  using StageA = Stage<Math, typename P::A, Math::M>;
  using StageB = Stage<Math, typename P::B, Math::N>;
  alignas(16) typename Math::Word a[2][Math::k_rows * StageA::stride];
  alignas(16) typename Math::Word b[2][Math::k_rows * StageB::stride];
  alignas(16) typename StageA::Inner inner_a[2][Math::K];
  alignas(16) typename StageB::Inner inner_b[2][Math::K];

  // Stores inner(k) of both operands for the step of products from k on.
  __device__ void fill_inner(const P& p, int slot, index_t k) {
    const int thread = static_cast<int>(threadIdx.x);
    constexpr int second = Math::threads >= 2 * Math::K && Math::K < 32 ? 32 : 0;  // another warp
    if (thread < Math::K) inner_a[slot][thread] = p.a.inner(min(k + thread, p.k - 1));
    if (thread >= second && thread < second + Math::K)
      inner_b[slot][thread - second] = p.b.inner(min(k + thread - second, p.k - 1));
  }
};

template <class Math, class P>
inline constexpr std::size_t shared_bytes =
    sizeof(SharedSteps<Math, P>) > sizeof(Four<typename Math::T>) * Math::shared_groups
        ? sizeof(SharedSteps<Math, P>)
        : sizeof(Four<typename Math::T>) * Math::shared_groups;

// The sums of a tile over the `left` products from k = `first` on. While one step is computed, the
// factors of the next are on their way to registers, and the offsets of the step after it are
// computed.
template <class Math, class P>
__device__ void add_up(const P& p, index_t row, index_t column, index_t first, int left,
                       SharedSteps<Math, P>& shared, typename Math::Sums& sums) {
  typename SharedSteps<Math, P>::StageA a;
  typename SharedSteps<Math, P>::StageB b;
  if (left <= 0) return;
  shared.fill_inner(p, 0, first);
  shared.fill_inner(p, 1, first + Math::K);
  a.start(p.a, row, p.m);
  b.start(p.b, column, p.n);
  __syncthreads();
  for (int step = 0;; ++step, left -= Math::K) {  // loads this step, computes the one before
    const int slot = step % 2;
    if (left > 0) {
      a.load(p.a, shared.inner_a[slot], left);
      b.load(p.b, shared.inner_b[slot], left);
    }
    if (step > 0) {
      if (left > Math::K) shared.fill_inner(p, slot ^ 1, first + index_t{step + 1} * Math::K);
      Math::multiply(shared.a[slot ^ 1], shared.b[slot ^ 1], sums);
    }
    if (left <= 0) break;
    a.store(shared.a[slot]);
    b.store(shared.b[slot]);
    __syncthreads();
  }
  __syncthreads();  // later code may use the memory
}

// Leaves the sums of this part in memory. True in the block that is the last one of its tile: there
// `sums` become the sums over all parts, added in their order, so that their bits do not depend on
// the order of blocks.
template <class Math, class P>
__device__ bool join_parts(const P& p, index_t split, index_t tile,
                           Four<typename Math::T> (&sums)[Math::groups]) {
  using T = typename Math::T;
  __shared__ bool is_last;
  Four<T>* mine =
      reinterpret_cast<Four<T>*>(p.partials) + tile * Math::groups * Math::threads + threadIdx.x;
  const index_t part_size = p.tiles * Math::groups * Math::threads;
#pragma unroll
  for (int g = 0; g < Math::groups; ++g)
    mine[split * part_size + g * Math::threads] = sums[g];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned last = static_cast<unsigned>(p.splits - 1);
    is_last = atomicInc(p.tickets + tile, last) == last;  // which also sets it back to 0
  }
  __syncthreads();
  if (!is_last) return false;
  __threadfence();
  constexpr int together = Math::groups < 4 ? 8 : 1;  // enough reads at a time
#pragma unroll together
  for (int s = 0; s < p.splits; ++s)
#pragma unroll
    for (int g = 0; g < Math::groups; ++g) {
      const Four<T> part = mine[s * part_size + g * Math::threads];
#pragma unroll
      for (int q = 0; q < 4; ++q)
        sums[g].values[q] = s == 0 ? part.values[q] : sums[g].values[q] + part.values[q];
    }
  return true;
}

// Some groups at a time, the others move up: the epilogue is there four times and not for every
// group, which the compiler would need seconds for.
template <class Math, class P>
__device__ void store_sums(const P& p, index_t row, index_t column,
                           Four<typename Math::T> (&sums)[Math::groups]) {
  constexpr int some = Math::groups < 4 ? Math::groups : 4;
  static_assert(Math::groups % some == 0 && Math::column_of(some) == 0 &&
                some % Math::columns == 0);
  decltype(p.epilogue.column(0)) where[Math::columns];
#pragma unroll
  for (int c = 0; c < Math::columns; ++c)
    where[c] = p.epilogue.column(column + Math::column(c));
#pragma unroll 1
  for (int first = 0; first < Math::groups; first += some) {
#pragma unroll
    for (int g = 0; g < some; ++g) {
      const index_t i = row + Math::row(first + g), j = column + Math::column(Math::column_of(g));
      if (i < p.m && j < p.n)
        p.epilogue.store(i, where[Math::column_of(g)], sums[g].values,
                         static_cast<int>(min(p.n - j, index_t{4})));
    }
#pragma unroll
    for (int g = 0; g + some < Math::groups; ++g)
      sums[g] = sums[g + some];
  }
}

// The sum of row i of A: that of each thread's elements, then over the threads in halves.
template <class Math, class P>
__device__ void sum_row(const P& p, index_t i, void* memory) {
  using T = typename Math::T;
  static_assert((Math::threads & (Math::threads - 1)) == 0 &&
                sizeof(WideSum<T>) * Math::threads <= shared_bytes<Math, P>);
  auto* partial = static_cast<WideSum<T>*>(memory);
  const int thread = static_cast<int>(threadIdx.x);
  const auto row = p.a.outer(i);
  LongSum<T> sum;
  for (index_t k = thread; k < p.k; k += Math::threads)
    sum += p.a.load(row, p.a.inner(k));
  partial[thread] = sum.wide();
  for (int width = Math::threads / 2; width > 0; width /= 2) {
    __syncthreads();
    if (thread < width) partial[thread] += partial[thread + width];
  }
  if (thread == 0) p.epilogue.store_row_sum(i, static_cast<T>(partial[0]));
}

template <class Math, class P>
__device__ void run_product(const P& p, index_t block, void* memory) {
  if constexpr (requires { p.epilogue.store_row_sum(block, typename Math::T{}); })
    if (const index_t tiles = p.tiles * p.splits; block >= tiles)
      return sum_row<Math>(p, block - tiles, memory);
  const index_t split = block / p.tiles, tile = block % p.tiles;
  const index_t row = tile % p.tiles_down * Math::M, column = tile / p.tiles_down * Math::N;
  const index_t first = split * p.k_per_split;
  const int left = static_cast<int>(min(p.k - first, p.k_per_split));
  typename Math::Sums sums;
  add_up<Math>(p, row, column, first, left, *static_cast<SharedSteps<Math, P>*>(memory), sums);
  Four<typename Math::T> result[Math::groups];
  Math::finish(sums, result, memory);
  if (p.splits > 1 && !join_parts<Math>(p, split, tile, result)) return;
  store_sums<Math>(p, row, column, result);
}

// The first blocks do the one product, the others the other.
template <class Math, class First, class Second>
__global__ void __launch_bounds__(Math::threads, 512 / Math::threads)
    products_kernel(const __grid_constant__ First first, const __grid_constant__ Second second) {
  constexpr std::size_t one = shared_bytes<Math, First>, other = shared_bytes<Math, Second>;
  __shared__ alignas(16) unsigned char memory[one > other ? one : other];
  const index_t block = blockIdx.x, firsts = first.blocks();
  if (block < firsts)
    run_product<Math>(first, block, memory);
  else
    run_product<Math>(second, block - firsts, memory);
}

template <class Math, class P>
__global__ void __launch_bounds__(Math::threads, 512 / Math::threads)
    product_kernel(const __grid_constant__ P p) {
  __shared__ alignas(16) unsigned char memory[shared_bytes<Math, P>];
  run_product<Math>(p, index_t{blockIdx.x}, memory);
}

}  // namespace gpunet::detail
