// The affine map, with the ReLU that may stand behind it, as a node of a graph.
#pragma once

#include <gpunet/device/traits.hpp>
#include <gpunet/ops/linear/host/tiny.hpp>
#include <gpunet/ops/op.hpp>

#if GPUNET_CUDA  // here, so that every unit has the same version for Cuda
#include <gpunet/ops/linear/cuda/products.cuh>
#endif

namespace gpunet {

// y = activation(x W^T + b); W, b are the parameters 0 and 1. Layers make it without activation, which fusing puts in.
struct LinearOp {
  index_t in, out;
  Activation activation = Activation::none;
  bool keeps_relu_bits = false;  // of the numbers that the ReLU let through, where the device has a use for them

  OpTraits traits(const Sizes&, const Sizes&) const {
    OpTraits traits;
    if (keeps_relu_bits) traits.cache_bytes = relu_bits_bytes(out);
    traits.ends_in_relu = activation == Activation::relu;
    traits.can_rectify_dx = true;
    return traits;
  }
  std::string extra_repr(const Sizes&, const Sizes&) const {
    return concat("in_features=", in, ", out_features=", out, ", bias=True");
  }

  template <class D, class T>
  index_t scratch(const D& device, const Slice& slice, T type) const {
    return linear_scratch(device, slice, in, out, type);
  }
  template <class D>
  bool leaves_relu_bits(const D& device, const Slice& slice) const {
    if constexpr (DeviceTraits<D>::template uses_relu_bits<float>)
      return keeps_relu_bits && linear_leaves_relu_bits(device, slice, in, out);
    else
      return false;
  }
};

// Its kernels for sizes of types In and Out: index_t, or Dim<N> for tiny maps, whose loops are unrolled.
template <class In = index_t, class Out = index_t>
struct LinearKernels {
  using op_type = LinearOp;

  template <class D, class T>
  static void forward(const LinearOp& op, D& device, const ForwardPass<T>& pass) {
    const T *w = pass.parameters[0], *b = pass.parameters[1];
    if constexpr (DeviceTraits<D>::template uses_relu_bits<T>)
      linear_forward(device, pass.slice, op.in, op.out, pass.x, w, b, pass.y, pass.scratch, op.activation,
                     op.keeps_relu_bits ? pass.cache : nullptr);
    else
      linear_forward(device, pass.slice, size<In>(op.in), size<Out>(op.out), pass.x, w, b, pass.y, pass.scratch,
                     op.activation);
  }

  template <class D, class T>
  static void backward(const LinearOp& op, D& device, const BackwardPass<T>& pass) {
    linear_backward(device, pass.slice, size<In>(op.in), size<Out>(op.out), pass.x, pass.y, pass.dy,
                    pass.parameters[0], pass.dx, pass.gradients[0], pass.gradients[1], pass.accumulate,
                    pass.scratch, pass.dy_is_rectified ? Activation::none : op.activation, pass.rectify_dx,
                    pass.relu_bits);
  }

 private:
  // A size as the kernels take it.
  template <class Size>
  static Size size(index_t n) {
    if constexpr (std::is_same_v<Size, index_t>)
      return n;
    else
      return {};
  }
};

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(LinearKernels<>);
#endif

}  // namespace gpunet
