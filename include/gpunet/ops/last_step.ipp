// Bodies of last_step.hpp.
#pragma once

#include <gpunet/ops/copy_rows.hpp>
#include <gpunet/ops/last_step.hpp>
#include <gpunet/ops/map.hpp>

namespace gpunet {

template <class D, class T>
void LastStepOp::forward(D& device, const ForwardPass<T>& pass) const {
  const index_t inner = pass.slice.inner, row = pass.out_features * inner;
  detail::copy_rows(
      device, pass.slice.outer,
      detail::CopyRows<T>{row, pass.in_features * inner, row, pass.x + first(pass), pass.y});
}

template <class D, class T>
void LastStepOp::backward(D& device, const BackwardPass<T>& pass) const {
  if (!pass.dx) return;
  const index_t inner = pass.slice.inner, row = pass.out_features * inner;
  fill(device, pass.in_elements(), T{}, pass.dx);
  detail::copy_rows(
      device, pass.slice.outer,
      detail::CopyRows<T>{row, row, pass.in_features * inner, pass.dy, pass.dx + first(pass)});
}

}  // namespace gpunet
