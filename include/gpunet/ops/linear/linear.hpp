// The affine map as a node of a graph, with a fused ReLU.
#pragma once

#include <gpunet/device/traits.hpp>
#include <gpunet/ops/linear/host/tiny.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// y = activation(x W^T + b); W, b are the parameters 0 and 1. Layers make it without activation,
// which fusing adds.
struct LinearOp {
  index_t in, out;
  index_t rows = 1;  // of features in a sample
  bool bias = true;
  Activation activation = Activation::none;
  // Store which numbers the ReLU let through, where the device uses that.
  bool keeps_relu_bits = false;
  index_t first_row = 0;  // of W and b: those before belong to other nodes

  OpTraits traits(const Sizes&, const Sizes&) const {
    OpTraits traits;
    if (keeps_relu_bits) traits.cache_bytes = relu_bits_bytes(out);
    traits.ends_in_relu = activation == Activation::relu;
    traits.can_rectify_dx = true;
    return traits;
  }
  std::string extra_repr(const Sizes&, const Sizes&) const {
    return concat("in_features=", in, ", out_features=", out, ", bias=", bias ? "True" : "False");
  }

  template <class D>
  bool leaves_relu_bits(const D& device, const Slice& slice) const {
    if constexpr (DeviceTraits<D>::template uses_relu_bits<float>)
      return keeps_relu_bits && linear_leaves_relu_bits(device, all_rows(slice), in, out, bias);
    else
      return false;
  }
  index_t multiply_adds(const Sizes&, const Sizes&) const {
    return rows * (in + (bias ? 1 : 0)) * out;
  }

  // Return W and b, or their gradients; b is null if there is none.
  template <class T>
  T* weight(const ArraySlices<T>& parameters) const {
    return parameters[0] + first_row * in;
  }
  template <class T>
  T* bias_of(const ArraySlices<T>& parameters) const {
    return bias ? parameters[1] + first_row : nullptr;
  }

  // Returns a slice whose samples are the rows of all samples.
  Slice all_rows(const Slice& slice) const {
    return rows == 1 ? slice : Slice{slice.samples() * rows, slice.outer * rows, slice.inner};
  }
};

// The kernels for sizes of which `Known` is known: AnySizes, SmallSizes or TinySizes.
template <class Known = AnySizes>
struct LinearKernels {
  using op_type = LinearOp;

  template <class D, class T>
  static index_t scratch(const LinearOp& op, const D& device, const Slice& slice, T type) {
    return linear_scratch(device, Known{}, op.all_rows(slice), op.in, op.out, type,
                          slice.outer > 1);
  }

  template <class D, class T>
  static void forward(const LinearOp& op, D& device, const ForwardPass<T>& pass) {
    linear_forward(device, Known{},
                   LinearForwardArgs<T>{.slice = op.all_rows(pass.slice),
                                        .in = op.in,
                                        .out = op.out,
                                        .x = pass.x,
                                        .w = op.weight(pass.parameters),
                                        .b = op.bias_of(pass.parameters),
                                        .y = pass.y,
                                        .scratch = pass.scratch,
                                        .activation = op.activation,
                                        .relu_bits = op.keeps_relu_bits ? pass.cache : nullptr,
                                        .whole_batch = pass.slice.outer > 1});
  }

  template <class D, class T>
  static void backward(const LinearOp& op, D& device, const BackwardPass<T>& pass) {
    linear_backward(
        device, Known{},
        LinearBackwardArgs<T>{.slice = op.all_rows(pass.slice),
                              .in = op.in,
                              .out = op.out,
                              .x = pass.x,
                              .y = pass.y,
                              .dy = pass.dy,
                              .w = op.weight(pass.parameters),
                              .dx = pass.dx,
                              .dw = pass.skips_parameters ? nullptr : op.weight(pass.gradients),
                              .db = op.bias_of(pass.gradients),
                              .accumulate = pass.accumulate,
                              .scratch = pass.scratch,
                              .activation = pass.dy_is_rectified ? Activation::none : op.activation,
                              .rectify_dx = pass.rectify_dx,
                              .relu_bits = op.rows == 1 ? pass.relu_bits : nullptr,
                              .whole_batch = pass.slice.outer > 1});
  }
};

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(LinearKernels<>);
GPUNET_EXTERN_HOST_KERNELS(LinearKernels<SmallSizes>);
#endif

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/linear/linear.ipp>
#endif
