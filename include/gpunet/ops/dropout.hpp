// Random zeros as a node of a graph.
#pragma once

#include <gpunet/core/text.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// In training mode y = x * mask / (1 - p), with a mask that is 0 with probability p, else 1; in
// evaluation mode y = x. The mask has `draws` numbers for a sample, each for `elements` features
// one after another. backward draws it again.
struct DropoutOp {
  double p;
  index_t draws, elements;

  OpTraits traits(const Sizes&, const Sizes&) const {
    return {.is_view = p == 0, .uses_random = p > 0, .stored_as = StoredAs::promoted};
  }
  std::string extra_repr(const Sizes&, const Sizes&) const {
    return concat("p=", detail::python_repr(p), ", inplace=False");
  }
  // Where a draw is for several elements: the factors of the mask.
  index_t scratch(const auto&, const Slice& slice, auto) const {
    return elements > 1 ? slice.samples() * draws : 0;
  }

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;

 private:
  // Computes `to` from `from`, which have the sizes of y.
  template <class D, class T>
  void apply(D& device, const OpPass& pass, T* scratch, const T* from, T* to) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/dropout.ipp>
#endif
