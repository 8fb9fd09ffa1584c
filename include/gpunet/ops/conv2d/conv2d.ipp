// Bodies of conv2d.hpp.
#pragma once

#include <gpunet/device/traits.hpp>
#include <gpunet/ops/conv2d/conv2d.hpp>
#include <gpunet/ops/conv2d/host/block.hpp>
#include <gpunet/ops/conv2d/host/wide.hpp>

#if GPUNET_NVCC
#include <gpunet/ops/conv2d/cuda/convolution_products.cuh>
#endif

namespace gpunet {

GPUNET_INLINE std::string detail::convolution_repr(const Conv2dGeometry& g, bool is_row,
                                                   bool transposed, bool same, bool bias) {
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

GPUNET_INLINE std::string detail::padding_mode_repr(PadMode mode) {
  return mode == PadMode::constant ? "" : concat(", padding_mode=", name_of(mode));
}

template <class Geometry>
template <class D, class T>
index_t Conv2dKernels<Geometry>::scratch(const Conv2dOp& op, const D& device, const Slice& slice,
                                         T type) {
  if constexpr (DeviceTraits<D>::template fuses<T>)
    if (op.is_block()) return conv2d_block_scratch(device, slice, op.block<Geometry>(), type);
  return conv2d_scratch(device, slice, Geometry{op.geometry}, type);
}

template <class Geometry>
template <class D, class T>
void Conv2dKernels<Geometry>::forward(const Conv2dOp& op, D& device, const ForwardPass<T>& pass) {
  if (op.transposed) {
    Conv2dBackwardArgs<T, Geometry> args{pass.slice, op.block<Geometry>()};
    args.dy = const_cast<T*>(pass.x);  // only blocks write to it
    args.w = pass.parameters[0];
    args.dx = pass.y;
    args.b = op.bias ? pass.parameters[1] : nullptr;
    args.scratch = pass.scratch;
    return conv2d_backward_input(device, args);
  }
  const Conv2dForwardArgs<T, Geometry> args{.slice = pass.slice,
                                            .block = op.block<Geometry>(),
                                            .x = pass.x,
                                            .w = pass.parameters[0],
                                            .b = op.bias ? pass.parameters[1] : nullptr,
                                            .y = pass.y,
                                            .scratch = pass.scratch,
                                            .choice = reinterpret_cast<PoolChoice*>(pass.cache)};
  if constexpr (DeviceTraits<D>::template fuses<T>)
    if (op.is_block()) return conv2d_block_forward(device, args);
  conv2d_forward(device, args);
}

template <class Geometry>
template <class D, class T>
void Conv2dKernels<Geometry>::backward(const Conv2dOp& op, D& device, const BackwardPass<T>& pass) {
  if (op.transposed) return backward_transposed(op, device, pass);
  const Conv2dBackwardArgs<T, Geometry> args{
      .slice = pass.slice,
      .block = op.block<Geometry>(),
      .x = pass.x,
      .y = pass.dy_is_rectified ? nullptr : pass.y,
      .dy = pass.dy,
      .w = pass.parameters[0],
      .dx = pass.dx,
      .dw = pass.skips_parameters ? nullptr : pass.gradients[0],
      .db = op.bias ? pass.gradients[1] : nullptr,
      .accumulate = pass.accumulate,
      .scratch = pass.scratch,
      .choice = reinterpret_cast<const PoolChoice*>(pass.cache),
      .rectify_dx = pass.rectify_dx};
  if constexpr (DeviceTraits<D>::template fuses<T>)
    if (op.is_block()) return conv2d_block_backward(device, args);
  if (args.dw) conv2d_backward_parameters(device, args);
  if (args.dx) conv2d_backward_input(device, args);
}

template <class Geometry>
template <class D, class T>
void Conv2dKernels<Geometry>::backward_transposed(const Conv2dOp& op, D& device,
                                                  const BackwardPass<T>& pass) {
  const Conv2dGeometry& g = op.geometry;
  if (!pass.skips_parameters) {
    Conv2dBackwardArgs<T, Geometry> args{pass.slice, op.block<Geometry>()};
    args.x = pass.dy;
    args.dy = const_cast<T*>(pass.x);  // only blocks write to it
    args.dw = pass.gradients[0];
    args.accumulate = pass.accumulate;
    args.scratch = pass.scratch;
    conv2d_backward_parameters(device, args);
    if (op.bias)
      conv2d_backward_bias(device, pass.slice, g.in_channels, g.in_pixels(),
                           static_cast<const T*>(pass.dy), pass.gradients[1], pass.accumulate);
  }
  if (pass.dx)
    conv2d_forward(device, Conv2dForwardArgs<T, Geometry>{.slice = pass.slice,
                                                          .block = op.block<Geometry>(),
                                                          .x = pass.dy,
                                                          .w = pass.parameters[0],
                                                          .y = pass.dx,
                                                          .scratch = pass.scratch});
}

#if GPUNET_COMPILED
GPUNET_COMPILE_KERNELS(Conv2dKernels<WideConv2dGeometry>);
GPUNET_COMPILE_HOST_KERNELS(Conv2dKernels<Conv2dGeometry>);
#endif

}  // namespace gpunet
