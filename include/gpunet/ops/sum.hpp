// Sums along a dimension as a node of a graph.
#pragma once

#include <gpunet/ops/op.hpp>

namespace gpunet {

// y [rows, columns] = scale * the sum of x [rows, length, columns] over its second dimension.
struct SumOp {
  index_t rows, length, columns;
  double scale = 1;  // 1 / length: the mean

  OpTraits traits(const Sizes&, const Sizes&) const { return {.stored_as = StoredAs::full}; }
  index_t multiply_adds(const Sizes&, const Sizes&) const { return 0; }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/sum.ipp>
#endif
