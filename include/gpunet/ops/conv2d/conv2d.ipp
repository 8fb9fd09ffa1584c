// Bodies of conv2d.hpp.
#pragma once

#include <span>

#include <gpunet/device/traits.hpp>
#include <gpunet/ops/conv2d/conv2d.hpp>
#include <gpunet/ops/conv2d/host/block.hpp>
#include <gpunet/ops/conv2d/host/wide.hpp>

#if GPUNET_NVCC
#include <gpunet/ops/conv2d/cuda/convolution_products.cuh>
#endif

namespace gpunet {

GPUNET_INLINE std::string detail::ConvolutionRepr::text() const {
  // Returns ", name=(planes, rows, columns)", or nothing for the default.
  const auto option = [&](std::string_view name, auto number, index_t usual) -> std::string {
    bool is_usual = true;
    std::string numbers;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const index_t n = number(i);
      is_usual = is_usual && n == usual;
      numbers += concat(numbers.empty() ? "" : ", ", n);
    }
    return is_usual ? "" : concat(", ", name, "=(", numbers, axes.size() == 1 ? ",)" : ")");
  };
  const auto member = [&](index_t ConvAxis::*of) {
    return [this, of](std::size_t i) {
      return axes[i].*of;
    };
  };
  const auto padding = [&](std::size_t i) {
    return axes[i].padding + padded[i];
  };
  // Returns the elements behind the last window of a transposed convolution.
  const auto rest = [&](std::size_t i) {
    const ConvAxis& axis = axes[i];
    return axis.size - ((axis.outputs - 1) * axis.stride - 2 * axis.padding + axis.reach());
  };
  const Conv2dGeometry& g = channels;
  return concat(
      transposed ? g.out_channels : g.in_channels, ", ",
      transposed ? g.in_channels : g.out_channels,
      option("kernel_size", member(&ConvAxis::kernel), 0),
      option("stride", member(&ConvAxis::stride), 0),
      same ? ", padding=same" : option("padding", padding, 0),
      option("dilation", member(&ConvAxis::dilation), 1),
      transposed ? option("output_padding", rest, 0) : "",
      g.groups > 1 ? concat(", groups=", g.groups) : "", bias ? "" : ", bias=False",
      padding_mode == PadMode::constant ? "" : concat(", padding_mode=", name_of(padding_mode)));
}

GPUNET_INLINE std::string Conv2dOp::extra_repr(const Sizes& in, const Sizes&) const {
  const ConvAxis axes[] = {geometry.rows, geometry.columns};
  const std::size_t first = in.rank() == 2 ? 1 : 0;
  return detail::ConvolutionRepr{geometry,
                                 std::span(axes).subspan(first),
                                 std::span(padded).subspan(first),
                                 transposed,
                                 same,
                                 bias,
                                 padding_mode}
      .text();
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
