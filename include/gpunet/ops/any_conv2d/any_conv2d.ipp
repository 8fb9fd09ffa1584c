// Bodies of any_conv2d.hpp.
#pragma once

#include <gpunet/ops/any_conv2d/any_conv2d.hpp>
#include <gpunet/ops/any_conv2d/host/rows.hpp>

namespace gpunet {

GPUNET_INLINE std::string AnyConv2dOp::extra_repr(const Sizes& in, const Sizes&) const {
  const AnyConv2dGeometry& g = geometry;
  const bool is_row = in.rank() == 2;
  // Returns ", name=(rows, columns)", or nothing for the default.
  const auto pair = [&](std::string_view name, index_t rows, index_t columns,
                        index_t usual) -> std::string {
    if (rows == usual && columns == usual) return "";
    return is_row ? concat(", ", name, "=(", columns, ",)")
                  : concat(", ", name, "=(", rows, ", ", columns, ")");
  };
  // Returns the elements behind the last window of a transposed convolution.
  const auto rest = [](const ConvAxis& axis) {
    return axis.size - ((axis.outputs - 1) * axis.stride - 2 * axis.padding +
                        axis.dilation * (axis.kernel - 1) + 1);
  };
  return concat(transposed ? g.out_channels : g.in_channels, ", ",
                transposed ? g.in_channels : g.out_channels,
                pair("kernel_size", g.rows.kernel, g.columns.kernel, 0),
                pair("stride", g.rows.stride, g.columns.stride, 0),
                same ? ", padding=same" : pair("padding", g.rows.padding, g.columns.padding, 0),
                pair("dilation", g.rows.dilation, g.columns.dilation, 1),
                transposed ? pair("output_padding", rest(g.rows), rest(g.columns), 0) : "",
                g.groups > 1 ? concat(", groups=", g.groups) : "", bias ? "" : ", bias=False");
}

GPUNET_INLINE index_t AnyConv2dOp::multiply_adds(const Sizes&, const Sizes& out) const {
  const index_t weights = geometry.out_channels * geometry.taps();
  return (weights + (bias ? out[0] : 0)) * (out[0] > 0 ? out.numel() / out[0] : 0);
}

template <class D, class T>
index_t AnyConv2dOp::scratch(const D& device, const Slice& slice, T type) const {
  return any_conv2d_scratch(device, slice, geometry, type);
}

template <class D, class T>
void AnyConv2dOp::forward(D& device, const ForwardPass<T>& pass) const {
  const AnyConv2dArgs<T> args{pass.slice, geometry, pass.parameters[0],
                              bias ? pass.parameters[1] : nullptr, pass.scratch};
  if (transposed)
    any_conv2d_backward_input(device, args, pass.x, pass.y);
  else
    any_conv2d_forward(device, args, pass.x, pass.y);
}

template <class D, class T>
void AnyConv2dOp::backward(D& device, const BackwardPass<T>& pass) const {
  const AnyConv2dArgs<T> args{pass.slice, geometry, pass.parameters[0], nullptr, pass.scratch};
  const T* dy = pass.dy;
  const T *image = transposed ? dy : pass.x, *gradient = transposed ? pass.x : dy;
  if (!pass.skips_parameters)
    any_conv2d_backward_weight(device, args, image, gradient, pass.gradients[0], pass.accumulate);
  if (bias && !pass.skips_parameters)
    any_conv2d_backward_bias(device, pass.slice,
                             transposed ? geometry.in_channels : geometry.out_channels,
                             transposed ? geometry.in_pixels() : geometry.out_pixels(), dy,
                             pass.gradients[1], pass.accumulate);
  if (!pass.dx) return;
  if (transposed)
    any_conv2d_forward(device, args, dy, pass.dx);
  else
    any_conv2d_backward_input(device, args, dy, pass.dx);
}

}  // namespace gpunet
