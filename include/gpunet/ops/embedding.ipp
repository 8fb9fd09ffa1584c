// Bodies of embedding.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/ops/embedding.hpp>
#include <gpunet/ops/map.hpp>

namespace gpunet {

namespace detail {

// The indices of a slice [outer][tokens][inner]. Position p is that of index p.
template <class T>
struct EmbeddingTokens {
  Slice slice;
  index_t tokens, rows;
  const T* x;

  GPUNET_FN index_t count() const { return slice.samples() * tokens; }
  GPUNET_FN index_t sample(index_t p) const {
    return p / (tokens * slice.inner) * slice.inner + p % slice.inner;
  }
  // Returns the row that a number chooses; -1 if it is not the index of a row.
  GPUNET_FN index_t row(index_t p) const {
    const T value = x[p];
    if (!(value >= T{0} && value < static_cast<T>(rows))) return -1;
    const auto index = static_cast<index_t>(value);
    return static_cast<T>(index) == value ? index : -1;
  }
  // Returns where element d of position p lies in y.
  GPUNET_FN index_t offset(index_t p, index_t d, index_t dim) const {
    return (p / slice.inner * dim + d) * slice.inner + p % slice.inner;
  }
};

// y = a row of the table, NaN for an impossible index. One index = one element of y.
template <class T>
struct TakeRow {
  static constexpr bool one_copy = true;
  EmbeddingTokens<T> tokens;
  index_t dim;
  const T* w;
  T* y;
  T no_row = std::numeric_limits<T>::quiet_NaN();  // kernels cannot call this
  GPUNET_FN void operator()(index_t i) const {
    const index_t inner = tokens.slice.inner, d = i / inner % dim,
                  p = i / (inner * dim) * inner + i % inner;
    const index_t row = tokens.row(p);
    y[i] = row < 0 ? no_row : w[row * dim + d];
  }
};

// Links the positions of equal indices of real samples: next[p] is the next one, -1 at the last;
// first[p] is 1 at the first one, else
// 0. One index = one position. Every position looks at all others, which a GPU does while it would
// sort a few thousand.
template <class T>
struct LinkTokens {
  static constexpr bool one_copy = true;
  EmbeddingTokens<T> tokens;
  index_t padding;
  std::int32_t *next, *first;

  GPUNET_FN index_t row_of(index_t p) const {
    return tokens.sample(p) < tokens.slice.count ? tokens.row(p) : -1;
  }
  GPUNET_FN void operator()(index_t p) const {
    const index_t row = row_of(p), count = tokens.count();
    next[p] = -1;
    first[p] = 0;
    if (row < 0 || row == padding) return;
    index_t q = 0;
    while (q < p && row_of(q) != row)
      ++q;
    first[p] = q == p ? 1 : 0;
    for (q = p + 1; q < count && row_of(q) != row;)
      ++q;
    if (q < count) next[p] = static_cast<std::int32_t>(q);
  }
};

// dw += the sum of dy over the positions of an index, in their order. One index = one element of
// the row of one position.
template <class T>
struct AddLinkedRows {
  static constexpr bool one_copy = true;
  EmbeddingTokens<T> tokens;
  index_t dim;
  const std::int32_t *next, *first;
  const T* dy;
  T* dw;
  GPUNET_FN void operator()(index_t i) const {
    const index_t p = i / dim, d = i % dim;
    if (first[p] == 0) return;
    T& sum = dw[tokens.row(p) * dim + d];
    for (index_t q = p; q >= 0; q = next[q])
      sum += dy[tokens.offset(q, d, dim)];
  }
};

template <class D, class T>
void take_rows(D& device, const TakeRow<T>& take) {
  for_each(device, take.tokens.count() * take.dim, take);
}

// On Host position by position, without a division for each element. Throws Error for an impossible
// index.
template <class T>
void take_rows(Host& device, const TakeRow<T>& take) {
  const EmbeddingTokens<T>& tokens = take.tokens;
  constexpr index_t worth_threads = index_t{1} << 16;
  const index_t inner = tokens.slice.inner, dim = take.dim;
  device.run_if(
      tokens.count() * dim > worth_threads, tokens.count() / inner, [&](index_t group, int) {
        for (index_t s = 0; s < inner; ++s) {
          const index_t p = group * inner + s, row = tokens.row(p);
          if (row < 0)
            require(false, "gpunet::nn::Embedding: index ", static_cast<double>(tokens.x[p]),
                    " at position ", group % tokens.tokens,
                    " of a sample (want a whole number from 0 to ", tokens.rows - 1,
                    "), check the data, or give the layer more embeddings");
          T* y = take.y + group * dim * inner + s;
          for (index_t d = 0; d < dim; ++d)
            y[d * inner] = take.w[row * dim + d];
        }
      });
}

// Ints that the links of `count` positions take, as elements of T.
template <class T>
constexpr index_t link_elements(index_t count) {
  static_assert(sizeof(T) >= sizeof(std::int32_t));
  return 2 * count;
}

template <class D, class T>
void add_rows(D& device, const EmbeddingOp& op, const EmbeddingTokens<T>& tokens,
              const BackwardPass<T>& pass) {
  const index_t count = tokens.count();
  auto* const next = reinterpret_cast<std::int32_t*>(pass.scratch);
  auto* const first = next + count;
  for_each(device, count, LinkTokens<T>{tokens, op.padding, next, first});
  for_each(device, count * op.dim,
           AddLinkedRows<T>{tokens, op.dim, next, first, pass.dy, pass.gradients[0]});
}

// On Host one position after the other.
template <class T>
void add_rows(Host&, const EmbeddingOp& op, const EmbeddingTokens<T>& tokens,
              const BackwardPass<T>& pass) {
  const index_t inner = tokens.slice.inner;
  for (index_t p = 0; p < tokens.count(); ++p) {
    const index_t row = tokens.sample(p) < tokens.slice.count ? tokens.row(p) : -1;
    if (row < 0 || row == op.padding) continue;
    const T* dy = pass.dy + tokens.offset(p, 0, op.dim);
    T* dw = pass.gradients[0] + row * op.dim;
    for (index_t d = 0; d < op.dim; ++d)
      dw[d] += dy[d * inner];
  }
}

}  // namespace detail

template <class D, class T>
index_t EmbeddingOp::scratch(const D&, const Slice& slice, T) const {
  return std::is_same_v<D, Host> ? 0 : detail::link_elements<T>(slice.samples() * tokens);
}

template <class D, class T>
void EmbeddingOp::forward(D& device, const ForwardPass<T>& pass) const {
  detail::take_rows(
      device,
      detail::TakeRow<T>{{pass.slice, tokens, rows, pass.x}, dim, pass.parameters[0], pass.y});
}

template <class D, class T>
void EmbeddingOp::backward(D& device, const BackwardPass<T>& pass) const {
  if (!pass.skips_parameters) {
    if (pass.accumulate == Accumulate::no) fill(device, rows * dim, T{}, pass.gradients[0]);
    detail::add_rows(device, *this, detail::EmbeddingTokens<T>{pass.slice, tokens, rows, pass.x},
                     pass);
  }
  if (pass.dx) fill(device, pass.in_elements(), T{}, pass.dx);
}

}  // namespace gpunet
