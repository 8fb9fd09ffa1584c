// Values one after another along a dimension, as a node of a graph.
#pragma once

#include <array>

#include <gpunet/ops/op.hpp>

namespace gpunet {

// y = the inputs, joined along one dimension of a sample. Seen as [rows][columns], with a row for
// each position in the dimensions before it, the inputs have `columns` each, and a row of y is
// theirs one after another.
struct ConcatOp {
  index_t rows;
  int dim;  // as PyTorch counts it, the batch is 0
  std::array<index_t, most_inputs> columns{};

  OpTraits traits(const Sizes&, const Sizes&) const { return {.stored_as = StoredAs::promoted}; }
  std::string extra_repr(const Sizes&, const Sizes&) const { return concat("dim=", dim); }
  index_t multiply_adds(const Sizes&, const Sizes&) const { return 0; }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;

 private:
  // Returns the elements of a row of y in a group of samples.
  index_t row(const Slice& slice) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/concat.ipp>
#endif
