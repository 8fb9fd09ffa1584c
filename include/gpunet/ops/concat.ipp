// Bodies of concat.hpp.
#pragma once

#include <algorithm>
#include <numeric>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/ops/concat.hpp>

namespace gpunet {

namespace detail {

// to [row][column] = from [row][column], whose rows are `from_row` and `to_row` apart. One index = one element.
template <class T>
struct CopyRows {
  index_t columns, from_row, to_row;
  const T* from;
  T* to;
  GPUNET_FN void operator()(index_t i) const {
    const index_t row = i / columns, column = i % columns;
    to[row * to_row + column] = from[row * from_row + column];
  }
};

template <class D, class T>
void copy_rows(D& device, index_t rows, const CopyRows<T>& f) {
  for_each(device, rows * f.columns, f);
}
template <class T>
void copy_rows(Host& device, index_t rows, const CopyRows<T>& f) {
  constexpr index_t worth_threads = index_t{1} << 16;
  device.run_if(rows * f.columns > worth_threads, rows, [&](index_t row, int) {
    std::copy_n(f.from + row * f.from_row, f.columns, f.to + row * f.to_row);
  });
}

}  // namespace detail

GPUNET_INLINE index_t ConcatOp::row(const Slice& slice) const {
  return std::accumulate(columns.begin(), columns.end(), index_t{0}) * slice.inner;
}

template <class D, class T>
void ConcatOp::forward(D& device, const ForwardPass<T>& pass) const {
  const index_t y_row = row(pass.slice);
  T* y = pass.y;
  for (std::size_t i = 0; i < pass.inputs.size(); ++i) {
    const index_t part = columns[i] * pass.slice.inner;
    detail::copy_rows(device, pass.slice.outer * rows, detail::CopyRows<T>{part, part, y_row, pass.inputs[i], y});
    y += part;
  }
}

template <class D, class T>
void ConcatOp::backward(D& device, const BackwardPass<T>& pass) const {
  const index_t y_row = row(pass.slice);
  const T* dy = pass.dy;
  for (std::size_t i = 0; i < pass.inputs.size(); ++i) {
    const index_t part = columns[i] * pass.slice.inner;
    if (T* dx = pass.input_gradients[i])
      detail::copy_rows(device, pass.slice.outer * rows, detail::CopyRows<T>{part, y_row, part, dy, dx});
    dy += part;
  }
}

#if GPUNET_COMPILED
GPUNET_COMPILE_KERNELS(detail::OwnKernels<ConcatOp>);
#endif

}  // namespace gpunet
