// Vectors for the places of a sequence as a node of a graph.
#pragma once

#include <gpunet/core/text.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// y = x + w, where w, the parameter 0, has the shape of a sample.
struct PositionEmbeddingOp {
  std::string extra_repr(const Sizes& in, const Sizes&) const { return concat(in[0], ", ", in[1]); }
  index_t multiply_adds(const Sizes&, const Sizes&) const { return 0; }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/position_embedding.ipp>
#endif
