// The last rows of samples as a node of a graph.
#pragma once

#include <gpunet/ops/op.hpp>

namespace gpunet {

// y [features] = the last row of x [steps, features].
struct LastStepOp {
  OpTraits traits(const Sizes&, const Sizes&) const { return {.stored_as = StoredAs::promoted}; }
  index_t multiply_adds(const Sizes&, const Sizes&) const { return 0; }

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;

 private:
  // Returns where the last row begins in the array of a group.
  static index_t first(const OpPass& pass) {
    return (pass.in_features - pass.out_features) * pass.slice.inner;
  }
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/last_step.ipp>
#endif
