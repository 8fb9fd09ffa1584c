// Maximum and mean over windows in three dimensions as nodes of a graph: a pooling of the planes,
// then one of the results along the depth. The windows are boxes, so the maximum of the maxima is
// that of the window, and the first of equal ones too; and each mean is of equally many elements.
#pragma once

#include <string>

#include <gpunet/ops/avg_pool2d/avg_pool2d.hpp>
#include <gpunet/ops/max_pool2d/max_pool2d.hpp>

namespace gpunet {

// y = max of its window. Inputs are [channels, depth, height, width].
struct MaxPool3dOp {
  Pool2dGeometry planes;  // channels: all planes of all channels
  Pool2dGeometry depth;   // of [channels, depth, pixels of a pooled plane], kernel_width 1
  bool ceil_mode = false;

  OpTraits traits(const Sizes&, const Sizes&) const {
    return {.cache_bytes = (planes.out_features() + depth.out_features()) *
                           static_cast<index_t>(sizeof(PoolChoice))};
  }
  std::string extra_repr(const Sizes&, const Sizes&) const;

  template <class D, class T>
  index_t scratch(const D&, const Slice& slice, T) const {
    return slice.samples() * planes.out_features();
  }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

// y = mean of its window. Inputs are [channels, depth, height, width].
struct AvgPool3dOp {
  index_t channels;
  PoolAxis depth, rows, columns;

  // Returns the sizes of the pooling of all planes of all channels.
  AvgPool2dGeometry of_planes() const { return {channels * depth.size, rows, columns}; }
  // Returns those of [channels, depth, pixels of a pooled plane].
  AvgPool2dGeometry of_depth() const {
    const index_t pixels = rows.outputs * columns.outputs;
    return {channels, depth, {pixels, pixels, 1, 1, 0}};
  }

  std::string extra_repr(const Sizes&, const Sizes&) const;

  template <class D, class T>
  index_t scratch(const D&, const Slice& slice, T) const {
    return slice.samples() * of_planes().out_features();
  }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/pool3d.ipp>
#endif
