// Mean over windows as a node of a graph.
#pragma once

#include <gpunet/ops/avg_pool2d/geometry.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// y = mean of its window.
struct AvgPool2dOp {
  AvgPool2dGeometry geometry;

  std::string extra_repr(const Sizes&, const Sizes&) const {
    const PoolAxis &rows = geometry.rows, &columns = geometry.columns;
    return rows.kernel == 0
               ? concat("output_size=(", rows.outputs, ", ", columns.outputs, ")")
               : concat("kernel_size=", rows.kernel, ", stride=", rows.stride, ", padding=", rows.padding);
  }

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(detail::OwnKernels<AvgPool2dOp>);
#endif

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/avg_pool2d/avg_pool2d.ipp>
#endif
