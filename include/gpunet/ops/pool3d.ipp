// Bodies of pool3d.hpp.
#pragma once

#include <gpunet/ops/avg_pool2d/avg_pool2d.ipp>
#include <gpunet/ops/max_pool2d/max_pool2d.ipp>
#include <gpunet/ops/pool3d.hpp>

namespace gpunet {

namespace detail {

// Returns three numbers as PyTorch prints them: one if they are equal.
inline std::string numbers_text(index_t planes, index_t rows, index_t columns) {
  return planes == rows && rows == columns ? concat(planes)
                                           : concat("(", planes, ", ", rows, ", ", columns, ")");
}

}  // namespace detail

GPUNET_INLINE std::string MaxPool3dOp::extra_repr(const Sizes&, const Sizes&) const {
  using detail::numbers_text;
  return concat("kernel_size=", numbers_text(depth.kernel, planes.kernel, planes.kernel_width),
                ", stride=", numbers_text(depth.stride, planes.stride, planes.stride_width),
                ", padding=", numbers_text(depth.padding, planes.padding, planes.padding_width),
                ", dilation=1, ceil_mode=", ceil_mode ? "True" : "False");
}

template <class D, class T>
void MaxPool3dOp::forward(D& device, const ForwardPass<T>& pass) const {
  const auto choices = reinterpret_cast<PoolChoice*>(pass.cache);
  max_pool2d_forward(device, pass.slice, planes, pass.x, pass.scratch, choices);
  max_pool2d_forward(device, pass.slice, depth, static_cast<const T*>(pass.scratch), pass.y,
                     choices + pass.slice.samples() * planes.out_features());
}

template <class D, class T>
void MaxPool3dOp::backward(D& device, const BackwardPass<T>& pass) const {
  if (!pass.dx) return;
  const auto choices = reinterpret_cast<const PoolChoice*>(pass.cache);
  max_pool2d_backward(device, pass.slice, depth, pass.dy,
                      choices + pass.slice.samples() * planes.out_features(), pass.scratch);
  max_pool2d_backward(device, pass.slice, planes, pass.scratch, choices, pass.dx);
}

GPUNET_INLINE std::string AvgPool3dOp::extra_repr(const Sizes&, const Sizes&) const {
  if (depth.kernel == 0)
    return concat("output_size=(", depth.outputs, ", ", rows.outputs, ", ", columns.outputs, ")");
  using detail::numbers_text;
  return concat("kernel_size=", numbers_text(depth.kernel, rows.kernel, columns.kernel),
                ", stride=", numbers_text(depth.stride, rows.stride, columns.stride),
                ", padding=", numbers_text(depth.padding, rows.padding, columns.padding));
}

template <class D, class T>
void AvgPool3dOp::forward(D& device, const ForwardPass<T>& pass) const {
  avg_pool2d_forward(device, pass.slice, of_planes(), pass.x, pass.scratch);
  avg_pool2d_forward(device, pass.slice, of_depth(), static_cast<const T*>(pass.scratch), pass.y);
}

template <class D, class T>
void AvgPool3dOp::backward(D& device, const BackwardPass<T>& pass) const {
  if (!pass.dx) return;
  avg_pool2d_backward(device, pass.slice, of_depth(), static_cast<const T*>(pass.dy), pass.scratch);
  avg_pool2d_backward(device, pass.slice, of_planes(), static_cast<const T*>(pass.scratch),
                      pass.dx);
}

}  // namespace gpunet
