// Recurrent layers as nodes of a graph: LSTM, GRU, RNN.
#pragma once

#include <gpunet/core/text.hpp>
#include <gpunet/ops/op.hpp>
#include <gpunet/ops/recurrent/cells.hpp>

namespace gpunet {

// Sizes of a recurrent layer: x [steps, in] -> y [steps, directions * hidden], or the last states
// alone [directions * hidden]. States of all layers are [layers * directions, hidden]. With
// initial_states the second input is h before the first step, and for LSTM the third is c. With
// final_states the output is the concatenation of y, h and, for LSTM, c after the last step.
struct RecurrentGeometry {
  index_t steps, in, hidden;
  int layers, directions;
  bool bias = true;
  bool last_state = false;
  double dropout = 0;  // the probability of zeros between layers in training mode
  bool initial_states = false, final_states = false;

  // Inputs of one step of a layer, the first being 0.
  index_t inputs(int layer) const { return layer == 0 ? in : out(); }
  index_t out() const { return directions * hidden; }
  index_t all_states() const { return layers * directions * hidden; }
  // Layers whose outputs are not y.
  int inner_outputs() const { return last_state || final_states ? layers : layers - 1; }
  // Numbers stored for the backward pass: the gates of all layers and directions and one more for
  // each unit, and the outputs that are not y.
  index_t kept(int gates) const {
    return steps * (layers * directions * (gates + 1) * hidden + inner_outputs() * out());
  }
  bool drops() const { return dropout > 0 && layers > 1; }
  index_t multiply_adds(int gates) const;
  std::string extra_repr() const;
};

// The parameters of each layer and direction: weight_ih [gates * hidden, inputs], weight_hh
// [gates * hidden, hidden], and bias_ih, bias_hh [gates * hidden].
template <class Cell>
struct RecurrentOp {
  RecurrentGeometry g;

  OpTraits traits(const Sizes&, const Sizes&) const {
    return {.cache_elements = g.kept(Cell::gates), .uses_random = g.drops()};
  }
  index_t multiply_adds(const Sizes&, const Sizes&) const { return g.multiply_adds(Cell::gates); }
  std::string extra_repr(const Sizes&, const Sizes&) const { return g.extra_repr(); }
  template <class D, class T>
  index_t scratch(const D& device, const Slice& slice, T) const;

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;

 private:
  // Returns the output of a layer, or its gradient, as the next one reads it: in training mode
  // `to`, with the zeros of dropout, else `from`.
  template <class D, class T>
  const T* drop(D& device, const OpPass& pass, int layer, const T* from, T* to) const;
  // Calls f(row, step) for the units of each direction: the first of them, and the last step of the
  // direction.
  template <class F>
  void for_each_last_state(F f) const {
    f(index_t{0}, g.steps - 1);
    if (g.directions == 2) f(g.hidden, index_t{0});
  }
  // Copies the states after the last step to pass.y.
  template <class D, class T>
  void store_last_states(D& device, const ForwardPass<T>& pass) const;
  // Copies y and the states of all layers after the last step to pass.y.
  template <class D, class T>
  void store_final_states(D& device, const ForwardPass<T>& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/recurrent/recurrent.ipp>
#endif
