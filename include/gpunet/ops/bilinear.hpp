// Bilinear interpolation as a node of a graph.
#pragma once

#include <gpunet/core/text.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// One dimension of an interpolation. Output o is at position max(0, step o + offset) / unit of x:
// between the elements before and after it. Fractions, because they are exact.
struct BilinearAxis {
  index_t size, outputs;
  index_t step, offset, unit;

  // The outputs [first(i), last(i)) read element i.
  GPUNET_FN index_t first(index_t i) const {
    return i == 0 ? 0 : ((i - 1) * unit - offset) / step + 1;
  }
  GPUNET_FN index_t last(index_t i) const {
    if (i == size - 1) return outputs;
    return ((i + 1) * unit - offset + step - 1) / step;
  }
};

// y = x interpolated. x [channels, rows.size, columns.size], y [channels, rows.outputs,
// columns.outputs] per sample, of `factor` times its height and width.
struct BilinearOp {
  index_t factor;
  BilinearAxis rows, columns;

  std::string extra_repr(const Sizes&, const Sizes&) const {
    return concat("scale_factor=", factor, ".0, mode='bilinear'");
  }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/bilinear.ipp>
#endif
