// Bodies of concat.hpp.
#pragma once

#include <numeric>

#include <gpunet/ops/concat.hpp>
#include <gpunet/ops/copy_rows.hpp>

namespace gpunet {

GPUNET_INLINE index_t ConcatOp::row(const Slice& slice) const {
  return std::accumulate(columns.begin(), columns.end(), index_t{0}) * slice.inner;
}

template <class D, class T>
void ConcatOp::forward(D& device, const ForwardPass<T>& pass) const {
  const index_t y_row = row(pass.slice);
  T* y = pass.y;
  for (std::size_t i = 0; i < pass.inputs.size(); ++i) {
    const index_t part = columns[i] * pass.slice.inner;
    detail::copy_rows(device, pass.slice.outer * rows,
                      detail::CopyRows<T>{part, part, y_row, pass.inputs[i], y});
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
      detail::copy_rows(device, pass.slice.outer * rows,
                        detail::CopyRows<T>{part, y_row, part, dy, dx});
    dy += part;
  }
}

}  // namespace gpunet
