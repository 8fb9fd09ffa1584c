// Maximum over windows as a node of a graph.
#pragma once

#include <gpunet/ops/max_pool2d/geometry.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// y = max of its window.
struct MaxPool2dOp {
  Pool2dGeometry geometry;  // that of one row for inputs [channels, length]
  bool ceil_mode = false;

  OpTraits traits(const Sizes&, const Sizes& out) const {
    return {.cache_bytes = out.numel() * static_cast<index_t>(sizeof(PoolChoice))};
  }
  std::string extra_repr(const Sizes& in, const Sizes&) const {
    const auto text = [&](index_t rows, index_t columns) {
      return in.rank() == 2 || geometry.is_square() ? concat(columns)
                                                    : concat("(", rows, ", ", columns, ")");
    };
    return concat("kernel_size=", text(geometry.kernel, geometry.kernel_width),
                  ", stride=", text(geometry.stride, geometry.stride_width),
                  ", padding=", text(geometry.padding, geometry.padding_width),
                  ", dilation=1, ceil_mode=", ceil_mode ? "True" : "False");
  }

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/max_pool2d/max_pool2d.ipp>
#endif
