// The arguments of attention's kernels.
#pragma once

#include <cmath>
#include <limits>

#include <gpunet/ops/philox.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// Where the queries, keys or values of all heads are: in input `input` of the op, which has `row`
// features for each place of the sequence, from feature `first` on, one head after another.
struct AttentionOperand {
  int input = 0;
  index_t row, first = 0;
};

// Sizes of an attention: queries q [queries, heads * dim], keys k [keys, heads * dim], values v
// [keys, heads * value_dim] -> y [queries, heads * value_dim].
struct AttentionGeometry {
  index_t heads, queries, keys, dim, value_dim;
  AttentionOperand q, k, v;
  bool causal = false;  // query i attends to the keys 0 to i
  double scale = 1;     // of the products of queries and keys

  // Returns the number of keys that a query may attend to.
  GPUNET_FN index_t visible(index_t query) const {
    return causal && query + 1 < keys ? query + 1 : keys;
  }
};

// The rows of one head of one sample: element d of row t is data[t * row + d * feature]. T may be
// const.
template <class T>
struct AttentionRows {
  T* data;
  index_t row, feature;

  GPUNET_FN T& operator()(index_t t, index_t d) const { return data[t * row + d * feature]; }
};

// The factors of the probabilities in training mode: 0 with probability p, else 1 / (1 - p).
template <class T>
struct AttentionDropout {
  OpRandom random;  // for samples of heads * queries * padded(keys) features
  float p = 0;      // 0: there are no factors
  T scale = 1;

  // Random numbers come in blocks of four keys.
  GPUNET_FN static index_t padded(index_t keys) {
    return (keys + OpRandom::per_block - 1) / OpRandom::per_block * OpRandom::per_block;
  }
  GPUNET_FN T factor_of(std::uint32_t word) const {
    return OpRandom::uniform_of(word) < p ? T{} : scale;
  }
};

// The arguments of both passes.
template <class T>
struct AttentionPass {
  AttentionGeometry g;
  Slice slice;
  const T *q, *k, *v;  // the inputs, see AttentionOperand
  const T* mask;       // [keys] of each sample: nonzero where a key is ignored. May be null
  AttentionDropout<T> dropout;

  // Return the rows of head `head` of sample `n`, in an input and in an array of its size.
  template <class U>
  GPUNET_FN AttentionRows<U> rows(U* data, const AttentionOperand& operand, index_t length,
                                  index_t size, index_t n, index_t head) const {
    const index_t feature = operand.first + head * size;
    return {data + slice.offset(n, feature, length * operand.row), operand.row * slice.inner,
            slice.inner};
  }
  template <class U>
  GPUNET_FN AttentionRows<U> queries(U* data, index_t n, index_t head) const {
    return rows(data, g.q, g.queries, g.dim, n, head);
  }
  template <class U>
  GPUNET_FN AttentionRows<U> keys(U* data, index_t n, index_t head) const {
    return rows(data, g.k, g.keys, g.dim, n, head);
  }
  template <class U>
  GPUNET_FN AttentionRows<U> values(U* data, index_t n, index_t head) const {
    return rows(data, g.v, g.keys, g.value_dim, n, head);
  }
  template <class U>
  GPUNET_FN AttentionRows<U> outputs(U* data, index_t n, index_t head) const {
    return rows(data, {0, g.heads * g.value_dim, 0}, g.queries, g.value_dim, n, head);
  }
  // Returns where the number of a query is in an array [heads, queries] for each sample; that of
  // the next is slice.inner further.
  GPUNET_FN index_t statistic(index_t n, index_t head, index_t query) const {
    return slice.offset(n, head * g.queries + query, g.heads * g.queries);
  }
  // Returns the block of random numbers for a query and a key, see OpRandom::words.
  GPUNET_FN index_t random_block(index_t head, index_t query, index_t key) const {
    return ((head * g.queries + query) * AttentionDropout<T>::padded(g.keys) + key) /
           OpRandom::per_block;
  }
};

template <class T>
struct AttentionForward : AttentionPass<T> {
  T* y;
  // [heads, queries] of each sample: log sum_j exp(s_j) over the scores of a query; infinity if all
  // keys are ignored.
  T* log_sums;
  T* scratch;
};

template <class T>
struct AttentionBackward : AttentionPass<T> {
  const T *y, *log_sums, *dy;
  T *dq, *dk, *dv;  // the gradients of the inputs; may be null
  T* scratch;
};

}  // namespace gpunet
