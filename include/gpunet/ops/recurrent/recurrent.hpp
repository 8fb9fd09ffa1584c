// Recurrent layers as nodes of a graph: LSTM, GRU, RNN.
#pragma once

#include <gpunet/core/text.hpp>
#include <gpunet/ops/op.hpp>
#include <gpunet/ops/recurrent/cells.hpp>

namespace gpunet {

// Sizes of a recurrent layer: x [steps, in] -> y [steps, directions * hidden].
struct RecurrentGeometry {
  index_t steps, in, hidden;
  int layers, directions;
  bool bias = true;

  // Inputs of one step of a layer, the first being 0.
  index_t inputs(int layer) const { return layer == 0 ? in : out(); }
  index_t out() const { return directions * hidden; }
  // Numbers that forward leaves for backward: the gates of all layers and directions and one more for each unit, and the outputs
  // of all layers but the last one.
  index_t kept(int gates) const {
    return steps * (layers * directions * (gates + 1) * hidden + (layers - 1) * out());
  }
  index_t multiply_adds(int gates) const;
  std::string extra_repr() const;
};

// The parameters of each layer and direction: weight_ih [gates * hidden, inputs], weight_hh [gates * hidden, hidden], and bias_ih,
// bias_hh [gates * hidden].
template <class Cell>
struct RecurrentOp {
  RecurrentGeometry g;

  OpTraits traits(const Sizes&, const Sizes&) const { return {.cache_elements = g.kept(Cell::gates)}; }
  index_t multiply_adds(const Sizes&, const Sizes&) const { return g.multiply_adds(Cell::gates); }
  std::string extra_repr(const Sizes&, const Sizes&) const { return g.extra_repr(); }
  template <class D, class T>
  index_t scratch(const D& device, const Slice& slice, T) const;

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(detail::OwnKernels<RecurrentOp<LstmCell>>);
GPUNET_EXTERN_KERNELS(detail::OwnKernels<RecurrentOp<GruCell>>);
GPUNET_EXTERN_KERNELS(detail::OwnKernels<RecurrentOp<RnnCell<false>>>);
GPUNET_EXTERN_KERNELS(detail::OwnKernels<RecurrentOp<RnnCell<true>>>);
#endif

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/recurrent/recurrent.ipp>
#endif
