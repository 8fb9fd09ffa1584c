// Mean over windows as a node of a graph.
#pragma once

#include <gpunet/ops/avg_pool2d/geometry.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// y = mean of its window.
struct AvgPool2dOp {
  AvgPool2dGeometry geometry;  // that of one row for inputs [channels, length]

  std::string extra_repr(const Sizes& in, const Sizes&) const {
    const PoolAxis &rows = geometry.rows, &columns = geometry.columns;
    const bool is_row = in.rank() == 2;
    if (columns.kernel == 0)
      return is_row ? concat("output_size=", columns.outputs)
                    : concat("output_size=(", rows.outputs, ", ", columns.outputs, ")");
    const bool is_square = rows.kernel == columns.kernel && rows.stride == columns.stride &&
                           rows.padding == columns.padding;
    const auto text = [&](index_t PoolAxis::*of) {
      return is_row      ? concat("(", columns.*of, ",)")
             : is_square ? concat(columns.*of)
                         : concat("(", rows.*of, ", ", columns.*of, ")");
    };
    return concat("kernel_size=", text(&PoolAxis::kernel), ", stride=", text(&PoolAxis::stride),
                  ", padding=", text(&PoolAxis::padding));
  }

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/avg_pool2d/avg_pool2d.ipp>
#endif
