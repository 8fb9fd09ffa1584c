// Attention on Host: a task for each head of a group of samples.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/isa_paths.hpp>
#include <gpunet/device/host/vector_math.hpp>
#include <gpunet/ops/attention/arguments.hpp>
#include <gpunet/ops/parts.hpp>

namespace gpunet::detail {

// Sizes of the tiles of scores: queries and keys, and the most lanes of a vector. With 16 samples
// in the lanes of vectors a score is a vector, else a number, so that more keys fit.
struct AttentionTiles {
  static constexpr index_t most_lanes = 16;
  index_t queries, keys;
  bool samples_in_lanes;

  static AttentionTiles forward(const Slice& slice) {
    return {8, slice.inner == 16 ? 64 : 128, slice.inner == 16};
  }
  static AttentionTiles backward(const Slice& slice) {
    return {16, slice.inner == 16 ? 32 : 128, slice.inner == 16};
  }

  // Lanes of a number in scratch memory, and the numbers of a row of so many, which fill vectors.
  index_t lanes() const { return samples_in_lanes ? most_lanes : 1; }
  static index_t padded(index_t n) { return round_up(n, most_lanes); }
};

// The random factors of a tile of probabilities. One index = one row and four keys.
template <class T>
struct AttentionFactors {
  AttentionDropout<T> dropout;
  index_t sample, samples;             // the first of the samples, and their number
  index_t first_block, blocks_of_row;  // random blocks of the first row, and of every row
  // Of the tile: random blocks of a row, elements of a row of `to`.
  index_t blocks, to_row;
  T* to;  // [rows][keys][samples]

  void operator()(index_t i) const {
    const index_t row = i / blocks, block = i % blocks;
    T* four = to + row * to_row + block * OpRandom::per_block * samples;
    for (index_t n = 0; n < samples; ++n) {
      const PhiloxWords words =
          dropout.random.words(sample + n, first_block + row * blocks_of_row + block);
      for (index_t key = 0; key < OpRandom::per_block; ++key)
        four[key * samples + n] = dropout.factor_of(words.words[key]);
    }
  }
};

// A product of matrices, C = A B or C += A B. Columns of B and C are vectors; vectors of C are
// neighbors.
template <class T>
struct LaneProduct {
  index_t rows, columns, depth;
  const T* a;
  index_t a_row, a_step;
  const T* b;
  index_t b_step, b_column;
  T* c;
  index_t c_row;
  bool add;
};

}  // namespace gpunet::detail

#define GPUNET_KERNELS <gpunet/ops/attention/host/heads.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet {

namespace detail {

// Returns the scratch of a thread.
inline index_t attention_thread_scratch(const AttentionGeometry& g, const Slice& slice) {
  const auto padded = AttentionTiles::padded;
  const index_t dim = padded(g.dim), value_dim = padded(g.value_dim);
  const auto of = [&](const AttentionTiles& t, index_t row_copies, index_t tiles) {
    const index_t keys = round_up(g.keys, t.keys);
    const index_t of_queries = 2 * t.queries * (dim + value_dim),
                  of_tiles = tiles * t.queries * t.keys;
    return t.lanes() * (row_copies * keys * (dim + value_dim) + keys + of_queries + of_tiles +
                        4 * t.queries) +
           4 * t.queries * AttentionTiles::most_lanes;
  };
  return std::max(of(AttentionTiles::forward(slice), 1, 2),
                  of(AttentionTiles::backward(slice), 3, 3));
}

// Calls task(group, head, scratch) for all heads of all groups of samples, on several threads where
// there is much to do.
template <class Pass, class Task>
void for_each_head(Host& device, const Pass& pass, Task task) {
  const AttentionGeometry& g = pass.g;
  const bool shared = pass.slice.samples() * g.heads * g.queries * g.keys * (g.dim + g.value_dim) >=
                      index_t{1} << 18;
  const index_t scratch = attention_thread_scratch(g, pass.slice);
  device.run_if(shared, pass.slice.outer * g.heads, [&](index_t i, int worker) {
    task(i / g.heads, i % g.heads, pass.scratch + (shared ? worker : 0) * scratch);
  });
}

}  // namespace detail

template <class T>
index_t attention_scratch(const Host& device, const AttentionGeometry& g, const Slice& slice) {
  return device.threads() * detail::attention_thread_scratch(g, slice);
}

template <class T>
void attention_forward(Host& device, const AttentionForward<T>& pass) {
  detail::for_each_head(device, pass, [&](index_t group, index_t head, T* scratch) {
    GPUNET_CALL_PATH(16, attention_forward, pass, group, head, scratch);
  });
}

template <class T>
void attention_backward(Host& device, const AttentionBackward<T>& pass) {
  detail::for_each_head(device, pass, [&](index_t group, index_t head, T* scratch) {
    GPUNET_CALL_PATH(16, attention_backward, pass, group, head, scratch);
  });
}

}  // namespace gpunet
