// Element-wise activations and views as nodes of a graph.
#pragma once

#include <gpunet/ops/op.hpp>

namespace gpunet {

// y = max(x, 0), element by element; a NaN stays one, as in PyTorch.
struct ReluOp {
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(detail::OwnKernels<ReluOp>);
#endif

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/activation_op.ipp>
#endif
