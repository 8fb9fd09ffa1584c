// Kernels of BinaryOp<F> (binary.hpp) for any F, for units that compile them.
#pragma once

#include <gpunet/core/long_sum.hpp>
#include <gpunet/ops/broadcast.hpp>
#include <gpunet/ops/for_each_block.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

namespace detail {

// Where the elements of a and b are that belong to a position in the outer dimensions of y:
// [outer][axes but the last].
struct BroadcastRows {
  BroadcastAxis axes[Sizes::max_rank - 1];
  int rank;
  index_t inner, features_a, features_b;

  BroadcastRows(const Broadcast& shape, index_t samples_inside)
      : rank(shape.rank), inner(samples_inside) {
    features_a = features_b = 1;
    for (int i = 0; i < rank; ++i) {
      const BroadcastAxis& axis = axes[i] = shape.axes[static_cast<std::size_t>(i)];
      if (axis.in_a) features_a *= axis.extent;
      if (axis.in_b) features_b *= axis.extent;
    }
  }
  GPUNET_FN const BroadcastAxis& last() const { return axes[rank - 1]; }
  // Returns the number of rows of a group of samples.
  GPUNET_FN index_t rows() const {
    index_t n = 1;
    for (int i = 0; i + 1 < rank; ++i)
      n *= axes[i].extent;
    return n;
  }
  // Sets a and b to the first elements of a row, which counts over all groups.
  GPUNET_FN void find(index_t row, index_t& a, index_t& b) const {
    index_t step_a = last().in_a ? last().extent : 1, step_b = last().in_b ? last().extent : 1;
    a = b = 0;
    for (int i = rank - 2; i >= 0; --i) {
      const index_t place = row % axes[i].extent;
      row /= axes[i].extent;
      if (axes[i].in_a) a += place * step_a, step_a *= axes[i].extent;
      if (axes[i].in_b) b += place * step_b, step_b *= axes[i].extent;
    }
    a = (row * features_a + a) * inner;
    b = (row * features_b + b) * inner;
  }
};

// y = f(a, b). One block = one row.
template <class F, class T>
struct BroadcastForward {
  F f;
  BroadcastRows at;
  const T *a, *b;
  T* y;

  GPUNET_FN index_t size() const { return at.last().extent * at.inner; }
  GPUNET_FN void run(index_t row, index_t first, index_t end) const {
    index_t begin_a, begin_b;
    at.find(row, begin_a, begin_b);
    const T *row_a = a + begin_a, *row_b = b + begin_b;
    T* to = y + row * size();
    const index_t inner = at.inner;
    GPUNET_INDEPENDENT_ITERATIONS
    for (index_t e = first; e < end; ++e)
      to[e] = f.value(row_a[at.last().in_a ? e : e % inner], row_b[at.last().in_b ? e : e % inner]);
  }
};

// Calls f.run(row, first element, end) for rows, or parts of them.
template <class F>
struct RowOfRuns {
  F f;
  void operator()(index_t row) const { f.run(row, 0, f.size()); }
};
template <class F>
struct ElementOfRuns {
  F f;
  GPUNET_FN void operator()(index_t i) const {
    f.run(i / f.size(), i % f.size(), i % f.size() + 1);
  }
};
template <class D, class F>
void for_each_row(D& device, index_t rows, const F& f) {
  if constexpr (prefers_blocks<D>)
    for_each_block(device, rows, f.size(), RowOfRuns<F>{f});
  else
    for_each(device, rows * f.size(), ElementOfRuns<F>{f});
}

// y = f(a, b) of the same shape. One index = one element.
template <class F, class T>
struct BinaryElement {
  F f;
  const T *a, *b;
  T* y;
  GPUNET_FN void operator()(index_t i) const { y[i] = f.value(a[i], b[i]); }
};
template <class F, class T>
struct BinaryGradients {
  F f;
  const T *a, *b, *dy;
  T *da, *db;  // may be null
  GPUNET_FN void operator()(index_t i) const {
    const T x = a[i], z = b[i], d = dy[i];
    if (da) da[i] = f.gradient_a(x, z, d);
    if (db) db[i] = f.gradient_b(x, z, d);
  }
};

// The gradient of one operand: the sum over the elements of y that it is repeated in. One index =
// one feature of a group of samples.
template <class F, class T, bool of_a>
struct BroadcastGradient {
  F f;
  BroadcastRows at;
  const T *a, *b, *dy;
  T* dx;

  GPUNET_FN bool has(int i) const { return of_a ? at.axes[i].in_a : at.axes[i].in_b; }
  GPUNET_FN void operator()(index_t i) const {
    constexpr index_t lanes = 16;
    index_t features = 1, repeats = 1;
    for (int k = 0; k < at.rank; ++k)
      (has(k) ? features : repeats) *= at.axes[k].extent;
    const index_t group = i / features, feature = i % features;
    for (index_t first = 0; first < at.inner; first += lanes) {
      const index_t count = at.inner - first < lanes ? at.inner - first : lanes;
      LongSums<T, lanes> sum(count);
      for (index_t r = 0; r < repeats; ++r) {
        index_t y = 0, in_a = 0, in_b = 0, step = 1, step_a = 1, step_b = 1, own = feature,
                other = r;
        for (int k = at.rank - 1; k >= 0; --k) {
          const index_t extent = at.axes[k].extent;
          index_t& position = has(k) ? own : other;
          const index_t place = position % extent;
          position /= extent;
          y += place * step, step *= extent;
          if (at.axes[k].in_a) in_a += place * step_a, step_a *= extent;
          if (at.axes[k].in_b) in_b += place * step_b, step_b *= extent;
        }
        const T* x = a + (group * step_a + in_a) * at.inner + first;
        const T* z = b + (group * step_b + in_b) * at.inner + first;
        const T* d = dy + (group * step + y) * at.inner + first;
        sum.add([&](index_t n) {
          return of_a ? f.gradient_a(x[n], z[n], d[n]) : f.gradient_b(x[n], z[n], d[n]);
        });
      }
      for (index_t n = 0; n < count; ++n)
        dx[i * at.inner + first + n] = sum[n];
    }
  }
};

template <class F, class D, class T>
void binary_forward(D& device, const Broadcast& shape, const F& f, const ForwardPass<T>& pass) {
  const T *a = pass.inputs[0], *b = pass.inputs[1];
  if (shape.is_whole(&BroadcastAxis::in_a) && shape.is_whole(&BroadcastAxis::in_b)) {
    for_each(device, pass.out_elements(), BinaryElement<F, T>{f, a, b, pass.y});
    return;
  }
  const BroadcastRows rows(shape, pass.slice.inner);
  for_each_row(device, pass.slice.outer * rows.rows(),
               BroadcastForward<F, T>{f, rows, a, b, pass.y});
}

template <class F, class D, class T>
void binary_backward(D& device, const Broadcast& shape, const F& f, const BackwardPass<T>& pass) {
  const T *a = pass.inputs[0], *b = pass.inputs[1], *dy = pass.dy;
  T *da = pass.input_gradients[0], *db = pass.input_gradients[1];
  const BroadcastRows rows(shape, pass.slice.inner);
  const bool whole_a = shape.is_whole(&BroadcastAxis::in_a),
             whole_b = shape.is_whole(&BroadcastAxis::in_b);
  const index_t outer = pass.slice.outer;
  if (whole_a && whole_b) {
    for_each(device, pass.out_elements(), BinaryGradients<F, T>{f, a, b, dy, da, db});
  } else {
    if (da)
      for_each(device, outer * rows.features_a,
               BroadcastGradient<F, T, true>{f, rows, a, b, dy, da});
    if (db)
      for_each(device, outer * rows.features_b,
               BroadcastGradient<F, T, false>{f, rows, a, b, dy, db});
  }
  const index_t padding = pass.slice.samples() - pass.slice.count;
  if (db && padding > 0)  // the padding of `a` is cleared as of every op
    for_each(device, padding * rows.features_b, ClearPadding<T>{pass.slice, rows.features_b, db});
}

}  // namespace detail

}  // namespace gpunet
