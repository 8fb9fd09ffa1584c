// Attention on Cuda: a block for each tile of queries, or of keys in the backward pass.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <gpunet/core/math.hpp>
#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/device/cuda/group_reduce.cuh>
#include <gpunet/device/cuda/sum_each.cuh>
#include <gpunet/ops/attention/arguments.hpp>

namespace gpunet {

namespace detail {

// A block has 16 x 16 threads, each of which has R x R numbers of a tile of 16 R x 16 R: rows ty R
// to ty R + R - 1, columns tx, tx + 16, ... Tiles of queries and keys hold scores; tiles of outputs
// and gradients hold as many columns of a head.
inline constexpr int attention_side = 16, attention_depth = 16;

template <int R, class T>
struct AttentionShared {
  static constexpr int tile = attention_side * R;
  T left[tile][attention_depth + 1], right[tile][attention_depth + 1];  // factors of scores
  T scores[tile][tile + 1];
  T columns[attention_depth][tile];  // factors of outputs and gradients
};

// The tile of a matrix that a thread has a part of.
template <int R, class T>
struct AttentionTile {
  T at[R][R] = {};
};

__device__ inline int attention_x() {
  return static_cast<int>(threadIdx.x) % attention_side;
}
__device__ inline int attention_y() {
  return static_cast<int>(threadIdx.x) / attention_side;
}

// Returns the products of the rows of two matrices, whose rows from `rows` and `columns` on are 0.
template <int R, class T>
__device__ AttentionTile<R, T> products_of_rows(AttentionShared<R, T>& shared,
                                                const AttentionRows<const T>& left,
                                                index_t first_row, index_t rows,
                                                const AttentionRows<const T>& right,
                                                index_t first_column, index_t columns,
                                                index_t depth) {
  constexpr int tile = AttentionShared<R, T>::tile, threads = attention_side * attention_side;
  AttentionTile<R, T> sum;
  for (index_t first = 0; first < depth; first += attention_depth) {
    __syncthreads();  // after all reads of the old contents
    for (int i = static_cast<int>(threadIdx.x); i < tile * attention_depth; i += threads) {
      const int row = i / attention_depth, k = i % attention_depth;
      const bool inside = first + k < depth;
      shared.left[row][k] =
          inside && first_row + row < rows ? left(first_row + row, first + k) : T{};
      shared.right[row][k] =
          inside && first_column + row < columns ? right(first_column + row, first + k) : T{};
    }
    __syncthreads();
    for (int k = 0; k < attention_depth; ++k) {
      T of_left[R], of_right[R];
      for (int i = 0; i < R; ++i) {
        of_left[i] = shared.left[attention_y() * R + i][k];
        of_right[i] = shared.right[attention_x() + attention_side * i][k];
      }
      for (int i = 0; i < R; ++i)
        for (int j = 0; j < R; ++j)
          sum.at[i][j] += of_left[i] * of_right[j];
    }
  }
  return sum;
}

// sum += weights X, where the weights are a tile [rows of the block][rows of X] that the threads
// have, and X columns `first_column` to first_column + 16 R - 1 of the rows `first` on.
template <int R, class T>
__device__ void add_weighted_rows(AttentionShared<R, T>& shared, const AttentionTile<R, T>& weights,
                                  const AttentionRows<const T>& x, index_t first, index_t rows,
                                  index_t first_column, index_t columns, AttentionTile<R, T>& sum) {
  constexpr int tile = AttentionShared<R, T>::tile, threads = attention_side * attention_side;
  __syncthreads();
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < R; ++j)
      shared.scores[attention_y() * R + i][attention_x() + attention_side * j] = weights.at[i][j];
  for (int begin = 0; begin < tile; begin += attention_depth) {
    if (first + begin >= rows) break;  // all threads do
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < tile * attention_depth; i += threads) {
      const int row = i / tile, column = i % tile;
      const bool inside = first + begin + row < rows && first_column + column < columns;
      shared.columns[row][column] = inside ? x(first + begin + row, first_column + column) : T{};
    }
    __syncthreads();
    for (int k = 0; k < attention_depth; ++k)
      for (int i = 0; i < R; ++i) {
        const T weight = shared.scores[attention_y() * R + i][begin + k];
        for (int j = 0; j < R; ++j)
          sum.at[i][j] += weight * shared.columns[k][attention_x() + attention_side * j];
      }
  }
}

// Writes the part of a tile that is in a matrix.
template <int R, class T>
__device__ void store_tile(const AttentionTile<R, T>& tile, const AttentionRows<T>& to,
                           index_t first, index_t rows, index_t first_column, index_t columns) {
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < R; ++j) {
      const index_t row = first + attention_y() * R + i,
                    column = first_column + attention_x() + attention_side * j;
      if (row < rows && column < columns) to(row, column) = tile.at[i][j];
    }
}

// Returns the combination over the 16 threads of a row.
template <class T, class F>
__device__ T combine_row(T value, F f) {
  for (int distance = attention_side / 2; distance > 0; distance /= 2)
    value = f(value, __shfl_xor_sync(~0u, value, distance));
  return value;
}

// One head of one sample.
template <class T>
struct AttentionHead {
  const AttentionPass<T>& pass;
  index_t n, head;

  // Returns a score from the product of a query and a key; -infinity where the key is ignored,
  // behind the query or missing.
  __device__ T score(T product, index_t query, index_t key) const {
    const AttentionGeometry& g = pass.g;
    const bool hidden = query >= g.queries || key >= g.visible(query) ||
                        (pass.mask && pass.mask[pass.slice.offset(n, key, g.keys)] != 0);
    return hidden ? -T(INFINITY) : product * static_cast<T>(g.scale);
  }
  __device__ T factor(index_t query, index_t key) const {
    if (!(pass.dropout.p > 0) || query >= pass.g.queries || key >= pass.g.keys) return T{1};
    return pass.dropout.factor_of(pass.dropout.random.words(n, pass.random_block(head, query, key))
                                      .words[key % OpRandom::per_block]);
  }
};

// The work of a block: a head of a sample, a tile of its rows, and some columns of the results.
struct AttentionBlock {
  index_t n, head, first, first_column;

  // The blocks for so many rows and columns, of which there are tiles * chunks for each head.
  __device__ AttentionBlock(index_t block, const AttentionGeometry& g, int tile, index_t tiles,
                            index_t chunks)
      : n(block / (tiles * chunks) / g.heads),
        head(block / (tiles * chunks) % g.heads),
        first(block / chunks % tiles * tile),
        first_column(block % chunks * tile) {}
};

// The sizes of a launch.
struct AttentionGrid {
  index_t tiles, chunks, blocks;

  AttentionGrid(const AttentionGeometry& g, const Slice& slice, int tile, index_t rows,
                index_t columns)
      : tiles(ceil_div(rows, tile)),
        chunks(ceil_div(columns, tile)),
        blocks(slice.samples() * g.heads * tiles * chunks) {}
};

template <int R, class T>
__global__ void __launch_bounds__(attention_side* attention_side, 1)
    attention_forward_kernel(AttentionForward<T> a, AttentionGrid grid) {
  __shared__ AttentionShared<R, T> shared;
  constexpr int tile = AttentionShared<R, T>::tile;
  const AttentionGeometry& g = a.g;
  for (index_t index = blockIdx.x; index < grid.blocks; index += gridDim.x) {
    const AttentionBlock block(index, g, tile, grid.tiles, grid.chunks);
    const AttentionHead<T> head{a, block.n, block.head};
    const AttentionRows<const T> q = a.queries(a.q, block.n, block.head),
                                 k = a.keys(a.k, block.n, block.head);
    const AttentionRows<const T> v = a.values(a.v, block.n, block.head);
    T largest[R], total[R];
    for (int i = 0; i < R; ++i) {
      largest[i] = -T(INFINITY);
      total[i] = T{};
    }
    AttentionTile<R, T> sum;
    const index_t last = block.first + tile < g.queries ? block.first + tile : g.queries;
    const index_t visible = g.visible(last - 1);
    for (index_t first = 0; first < visible; first += tile) {
      AttentionTile<R, T> weights =
          products_of_rows(shared, q, block.first, g.queries, k, first, visible, g.dim);
      for (int i = 0; i < R; ++i) {
        const index_t query = block.first + attention_y() * R + i;
        T most = -T(INFINITY);
        for (int j = 0; j < R; ++j) {
          const index_t key = first + attention_x() + attention_side * j;
          weights.at[i][j] = head.score(weights.at[i][j], query, key);
          most = Largest{}(most, weights.at[i][j]);
        }
        const T now = Largest{}(largest[i], combine_row(most, Largest{}));
        const T shift = now == -T(INFINITY) ? T{} : now;  // all keys are ignored so far
        T of_row{};
        for (int j = 0; j < R; ++j) {
          const index_t key = first + attention_x() + attention_side * j;
          const T weight = std::exp(weights.at[i][j] - shift);
          of_row += weight;
          weights.at[i][j] = weight * head.factor(query, key);
        }
        const T rest = std::exp(largest[i] - shift);
        largest[i] = now;
        total[i] = total[i] * rest + combine_row(of_row, Sum{});
        for (int j = 0; j < R; ++j)
          sum.at[i][j] *= rest;
      }
      add_weighted_rows(shared, weights, v, first, visible, block.first_column, g.value_dim, sum);
    }
    for (int i = 0; i < R; ++i) {
      const index_t query = block.first + attention_y() * R + i;
      for (int j = 0; j < R; ++j)
        sum.at[i][j] = total[i] == T{} ? T{} : sum.at[i][j] / total[i];
      if (attention_x() == 0 && block.first_column == 0 && query < g.queries)
        a.log_sums[a.statistic(block.n, block.head, query)] =
            total[i] == T{} ? T(INFINITY) : largest[i] + std::log(total[i]);
    }
    store_tile(sum, a.outputs(a.y, block.n, block.head), block.first, g.queries, block.first_column,
               g.value_dim);
  }
}

// The probabilities, times their factors, and the gradients of the scores; see host/heads.inl. Rows
// are queries, or as `by_key` keys.
template <bool by_key, int R, class T>
__device__ void attention_gradients(const AttentionBackward<T>& a, const AttentionBlock& block,
                                    index_t first, AttentionTile<R, T>& weights,
                                    AttentionTile<R, T>& gradients) {
  const AttentionHead<T> head{a, block.n, block.head};

  for (int i = 0; i < R; ++i)
    for (int j = 0; j < R; ++j) {
      const index_t row = block.first + attention_y() * R + i,
                    column = first + attention_x() + attention_side * j;
      const index_t query = by_key ? column : row, key = by_key ? row : column;
      const T score = head.score(weights.at[i][j], query, key);
      const bool inside = query < a.g.queries;
      const T weight =
          inside ? std::exp(score - a.log_sums[a.statistic(block.n, block.head, query)]) : T{};
      const T factor = head.factor(query, key);
      const T mean = inside ? a.scratch[a.statistic(block.n, block.head, query)] : T{};
      weights.at[i][j] = weight * factor;
      gradients.at[i][j] =
          weight * (gradients.at[i][j] * factor - mean) * static_cast<T>(a.g.scale);
    }
}

// means_i = dy_i . y_i. One sum for each query.
template <class T>
struct AttentionMeans {
  AttentionBackward<T> a;
  GPUNET_FN T operator()(index_t i, index_t d) const {
    const index_t query = i % a.g.queries, head = i / a.g.queries % a.g.heads,
                  n = i / a.g.queries / a.g.heads;
    return a.outputs(a.y, n, head)(query, d) * a.outputs(a.dy, n, head)(query, d);
  }
  GPUNET_FN void store(index_t i, T sum) const {
    const index_t query = i % a.g.queries, head = i / a.g.queries % a.g.heads,
                  n = i / a.g.queries / a.g.heads;
    a.scratch[a.statistic(n, head, query)] = sum;
  }
};

template <int R, class T>
__global__ void __launch_bounds__(attention_side* attention_side, 1)
    attention_query_gradient_kernel(AttentionBackward<T> a, AttentionGrid grid) {
  __shared__ AttentionShared<R, T> shared;
  constexpr int tile = AttentionShared<R, T>::tile;
  const AttentionGeometry& g = a.g;
  for (index_t index = blockIdx.x; index < grid.blocks; index += gridDim.x) {
    const AttentionBlock block(index, g, tile, grid.tiles, grid.chunks);
    const AttentionRows<const T> q = a.queries(a.q, block.n, block.head),
                                 k = a.keys(a.k, block.n, block.head);
    const AttentionRows<const T> v = a.values(a.v, block.n, block.head),
                                 dy = a.outputs(a.dy, block.n, block.head);
    AttentionTile<R, T> dq;
    const index_t last = block.first + tile < g.queries ? block.first + tile : g.queries;
    const index_t visible = g.visible(last - 1);
    for (index_t first = 0; first < visible; first += tile) {
      AttentionTile<R, T> weights =
          products_of_rows(shared, q, block.first, g.queries, k, first, visible, g.dim);
      AttentionTile<R, T> gradients =
          products_of_rows(shared, dy, block.first, g.queries, v, first, visible, g.value_dim);
      attention_gradients<false>(a, block, first, weights, gradients);
      add_weighted_rows(shared, gradients, k, first, visible, block.first_column, g.dim, dq);
    }
    store_tile(dq, a.queries(a.dq, block.n, block.head), block.first, g.queries, block.first_column,
               g.dim);
  }
}

template <int R, class T>
__global__ void __launch_bounds__(attention_side* attention_side, 1)
    attention_key_gradient_kernel(AttentionBackward<T> a, AttentionGrid grid) {
  __shared__ AttentionShared<R, T> shared;
  constexpr int tile = AttentionShared<R, T>::tile;
  const AttentionGeometry& g = a.g;
  for (index_t index = blockIdx.x; index < grid.blocks; index += gridDim.x) {
    const AttentionBlock block(index, g, tile, grid.tiles, grid.chunks);
    const AttentionRows<const T> q = a.queries(a.q, block.n, block.head),
                                 k = a.keys(a.k, block.n, block.head);
    const AttentionRows<const T> v = a.values(a.v, block.n, block.head),
                                 dy = a.outputs(a.dy, block.n, block.head);
    AttentionTile<R, T> dk, dv;
    // Queries before attend to none of the keys.
    const index_t begin = g.causal ? block.first / tile * tile : 0;
    for (index_t first = begin; first < g.queries; first += tile) {
      AttentionTile<R, T> weights =
          products_of_rows(shared, k, block.first, g.keys, q, first, g.queries, g.dim);
      AttentionTile<R, T> gradients =
          products_of_rows(shared, v, block.first, g.keys, dy, first, g.queries, g.value_dim);
      attention_gradients<true>(a, block, first, weights, gradients);
      add_weighted_rows(shared, weights, dy, first, g.queries, block.first_column, g.value_dim, dv);
      add_weighted_rows(shared, gradients, q, first, g.queries, block.first_column, g.dim, dk);
    }
    if (a.dk)
      store_tile(dk, a.keys(a.dk, block.n, block.head), block.first, g.keys, block.first_column,
                 g.dim);
    if (a.dv)
      store_tile(dv, a.values(a.dv, block.n, block.head), block.first, g.keys, block.first_column,
                 g.value_dim);
  }
}

template <class T, class... Parameters>
void launch_attention(Cuda& device, const AttentionPass<T>& pass, const char* what,
                      const AttentionGrid& grid, void (*kernel)(Parameters...),
                      const auto& arguments) {
  if (grid.blocks <= 0) return;
  const auto text = [&] {
    return concat(what, " of ", pass.slice.samples(), " samples, ", pass.g.heads, " heads, ",
                  pass.g.queries, " queries, ", pass.g.keys, " keys");
  };
  launch(device, {blocks(device, grid.blocks, 1), attention_side * attention_side}, text, kernel,
         arguments, grid);
}

// Calls f with a constant R, for the tiles: small ones where there are few queries and keys.
template <class T, class F>
void with_attention_tile(const AttentionGeometry& g, F f) {
  // As much shared memory as kernels have without asking.
  constexpr int large = sizeof(T) == sizeof(float) ? 4 : 2;
  if (std::max(g.queries, g.keys) <= attention_side)
    f(std::integral_constant<int, 1>{});
  else
    f(std::integral_constant<int, large>{});
}

}  // namespace detail

template <class T>
index_t attention_scratch(const Cuda&, const AttentionGeometry& g, const Slice& slice) {
  return slice.samples() * g.heads * g.queries;
}

template <class T>
void attention_forward(Cuda& device, const AttentionForward<T>& pass) {
  detail::with_attention_tile<T>(pass.g, [&](auto r) {
    constexpr int R = decltype(r)::value;
    const AttentionGeometry& g = pass.g;
    detail::launch_attention<T>(device, pass, "attention_forward",
                                {g, pass.slice, R * detail::attention_side, g.queries, g.value_dim},
                                detail::attention_forward_kernel<R, T>, pass);
  });
}

template <class T>
void attention_backward(Cuda& device, const AttentionBackward<T>& pass) {
  const AttentionGeometry& g = pass.g;
  sum_each(device, pass.slice.samples() * g.heads * g.queries, g.value_dim,
           detail::AttentionMeans<T>{pass});
  detail::with_attention_tile<T>(g, [&](auto r) {
    constexpr int R = decltype(r)::value;
    constexpr int tile = R * detail::attention_side;
    if (pass.dq)
      detail::launch_attention<T>(device, pass, "attention_query_gradient",
                                  {g, pass.slice, tile, g.queries, g.dim},
                                  detail::attention_query_gradient_kernel<R, T>, pass);
    if (pass.dk || pass.dv)
      detail::launch_attention<T>(device, pass, "attention_key_gradient",
                                  {g, pass.slice, tile, g.keys, std::max(g.dim, g.value_dim)},
                                  detail::attention_key_gradient_kernel<R, T>, pass);
  });
}

}  // namespace gpunet
