// Bodies of row_norm.hpp.
#pragma once

#include <limits>

#include <gpunet/ops/row_norm/host/rows.hpp>
#include <gpunet/ops/row_norm/row_norm.hpp>

namespace gpunet {

GPUNET_INLINE std::string RowNormOp::extra_repr(const Sizes& in, const Sizes&) const {
  const auto flag = [](bool set) {
    return set ? "True" : "False";
  };
  const std::string epsilon = concat(", eps=", eps < 0 ? "None" : detail::python_repr(eps));
  if (kind == RowNormKind::instance)
    return concat(in[0], epsilon, ", momentum=0.1, affine=", flag(weight), ", bias=", flag(bias),
                  ", track_running_stats=False");
  if (kind == RowNormKind::group)
    return concat(geometry.rows, ", ", in[0], epsilon, ", affine=", flag(weight),
                  ", bias=", flag(bias));
  std::string shape;
  for (int i = in.rank() - dims; i < in.rank(); ++i)
    shape += concat(shape.empty() ? "" : ", ", in[i]);
  const std::string text =
      concat("(", shape, dims == 1 ? ",)" : ")", epsilon, ", elementwise_affine=", flag(weight));
  return kind == RowNormKind::rms ? text : concat(text, ", bias=", flag(bias));
}

template <class D, class T>
void RowNormOp::forward(D& device, const ForwardPass<T>& pass) const {
  const RowNormRows rows{geometry, pass.slice};
  const double epsilon = eps < 0 ? static_cast<double>(std::numeric_limits<T>::epsilon()) : eps;
  row_norm_forward(device, RowNormForward<T>{rows, epsilon, centers(), pass.x,
                                             weight ? pass.parameters[0] : nullptr,
                                             bias ? pass.parameters[1] : nullptr,
                                             statistics_in(pass.cache, rows), pass.y});
}

template <class D, class T>
void RowNormOp::backward(D& device, const BackwardPass<T>& pass) const {
  const RowNormRows rows{geometry, pass.slice};
  const RowNormBackward<T> args{rows,
                                centers(),
                                pass.x,
                                pass.dy,
                                weight ? pass.parameters[0] : nullptr,
                                statistics_in(pass.cache, rows),
                                weight ? pass.gradients[0] : nullptr,
                                bias ? pass.gradients[1] : nullptr,
                                pass.accumulate,
                                pass.dx,
                                reinterpret_cast<double*>(pass.scratch)};
  if (weight && !pass.skips_parameters) row_norm_backward_parameters(device, args);
  if (pass.dx) row_norm_backward_input(device, args);
}

}  // namespace gpunet
