// Probabilities over the first dimension of a sample as a node of a graph.
#pragma once

#include <gpunet/ops/op.hpp>
#include <gpunet/ops/softmax/host/columns.hpp>

namespace gpunet {

// x, y [classes, ...]
struct SoftmaxOp {
  index_t classes;

  std::string extra_repr(const Sizes&, const Sizes&) const { return "dim=1"; }

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;

 private:
  index_t columns(const OpPass& pass) const {
    return classes > 0 ? pass.in_features / classes * pass.slice.inner : 0;
  }
};

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(detail::OwnKernels<SoftmaxOp>);
#endif

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/softmax/softmax.ipp>
#endif
