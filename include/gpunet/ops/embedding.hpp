// Rows of a table, chosen by indices, as a node of a graph.
#pragma once

#include <gpunet/core/text.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// y [tokens, dim] = the rows of the weight [rows, dim], parameter 0, whose indices are x [tokens].
// x has no gradient.
struct EmbeddingOp {
  index_t tokens, rows, dim;
  index_t padding = -1;  // the row without a gradient; -1: none

  std::string extra_repr(const Sizes&, const Sizes&) const {
    return concat(rows, ", ", dim, padding < 0 ? "" : concat(", padding_idx=", padding));
  }
  index_t multiply_adds(const Sizes&, const Sizes&) const { return 0; }
  template <class D, class T>
  index_t scratch(const D& device, const Slice& slice, T) const;

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/embedding.ipp>
#endif
