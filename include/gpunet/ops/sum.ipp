// Bodies of sum.hpp.
#pragma once

#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/for_each_block.hpp>
#include <gpunet/ops/sum.hpp>

namespace gpunet {

namespace detail {

// One sum = one element of y.
template <class T>
struct SumForward {
  index_t length, columns;
  T scale;
  const T* x;
  T* y;
  GPUNET_FN T operator()(index_t i, index_t k) const {
    return x[(i / columns * length + k) * columns + i % columns];
  }
  GPUNET_FN void store(index_t i, T sum) const { y[i] = scale * sum; }
};

// The same for rows of sums that fill vectors. One index = one row of y, or 16 of its elements.
template <class T>
struct SumRows {
  static constexpr index_t lanes = 16;
  SumForward<T> sum;
  void operator()(index_t i) const {
    const index_t columns = sum.columns, parts = (columns + lanes - 1) / lanes, row = i / parts;
    const index_t first = i % parts * lanes,
                  count = columns - first < lanes ? columns - first : lanes;
    const T* x = sum.x + row * sum.length * columns + first;
    LongSums<T, lanes> total(count);
    for (index_t k = 0; k < sum.length; ++k)
      total.add([row_of = x + k * columns](index_t n) { return row_of[n]; });
    for (index_t n = 0; n < count; ++n)
      sum.y[row * columns + first + n] = sum.scale * total[n];
  }
};

template <class D, class T>
void sum_rows(D& device, index_t rows, const SumForward<T>& sum) {
  sum_each(device, rows * sum.columns, sum.length, sum);
}
template <class T>
void sum_rows(Host& device, index_t rows, const SumForward<T>& sum) {
  const index_t parts = (sum.columns + SumRows<T>::lanes - 1) / SumRows<T>::lanes;
  if (sum.columns == 1)
    sum_each(device, rows, sum.length, sum);
  else
    for_each_block(device, rows * parts, sum.length * SumRows<T>::lanes, SumRows<T>{sum});
}

// dx = scale * dy of its sum. One block = the elements of x with one place in the summed dimension.
template <class T>
struct SumBackward {
  index_t length, columns;
  T scale;
  const T* dy;
  T* dx;
  GPUNET_FN index_t size() const { return columns; }
  GPUNET_FN void at(index_t i, index_t c) const {
    dx[i * columns + c] = scale * dy[i / length * columns + c];
  }
};

}  // namespace detail

template <class D, class T>
void SumOp::forward(D& device, const ForwardPass<T>& pass) const {
  detail::sum_rows(device, pass.slice.outer * rows,
                   detail::SumForward<T>{length, columns * pass.slice.inner, static_cast<T>(scale),
                                         pass.x, pass.y});
}

template <class D, class T>
void SumOp::backward(D& device, const BackwardPass<T>& pass) const {
  if (pass.dx)
    for_each_in_blocks(device, pass.slice.outer * rows * length,
                       detail::SumBackward<T>{length, columns * pass.slice.inner,
                                              static_cast<T>(scale), pass.dy, pass.dx});
}

}  // namespace gpunet
