// One number of each column, chosen by an index, as a node of a graph.
#pragma once

#include <gpunet/ops/op.hpp>

namespace gpunet {

// y [width] = x [classes, width], of each column the number whose index input 1, [width], has. An
// index that is not whole or not from 0 to classes - 1 is an Error on Host, on Cuda its number is
// NaN. Indices have no gradient.
struct PickOp {
  index_t classes, width;

  OpTraits traits(const Sizes&, const Sizes&) const { return {.stored_as = StoredAs::promoted}; }
  index_t multiply_adds(const Sizes&, const Sizes&) const { return 0; }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/pick.ipp>
#endif
