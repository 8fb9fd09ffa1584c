// Maximum over windows as a node of a graph.
#pragma once

#include <gpunet/ops/max_pool2d/geometry.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// y = max of its window.
struct MaxPool2dOp {
  Pool2dGeometry geometry;

  // Returns whether the windows are 2 x 2, do not overlap, and there is no padding.
  bool has_two_by_two_windows() const {
    return geometry.kernel == 2 && geometry.stride == 2 && geometry.padding == 0;
  }

  OpTraits traits(const Sizes&, const Sizes& out) const {
    return {.cache_bytes = out.numel() * static_cast<index_t>(sizeof(PoolChoice))};
  }
  std::string extra_repr(const Sizes&, const Sizes&) const {
    return concat("kernel_size=", geometry.kernel, ", stride=", geometry.stride, ", padding=", geometry.padding,
                  ", dilation=1, ceil_mode=False");
  }

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(detail::OwnKernels<MaxPool2dOp>);
#endif

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/max_pool2d/max_pool2d.ipp>
#endif
