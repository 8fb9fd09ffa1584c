// The gated linear unit as a node of a graph.
#pragma once

#include <gpunet/core/text.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// y [rows, half] = a / (1 + exp(-b)) with x [rows, 2, half] = a, b.
struct GluOp {
  index_t rows, half;
  int dim;  // as the layer has it

  std::string extra_repr(const Sizes&, const Sizes&) const { return concat("dim=", dim); }
  index_t multiply_adds(const Sizes&, const Sizes&) const { return 0; }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/glu.ipp>
#endif
