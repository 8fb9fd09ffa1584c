// Cells of recurrent layers: one time step of one unit. Gates and states are in the order and with
// the definitions of torch.nn's LSTM, GRU and RNN.
#pragma once

#include <concepts>

#include <gpunet/device/functor_math.hpp>

namespace gpunet {

// A cell computes from a (gates of the input), b (gates of the previous state h) and the previous
// state the new state. `kept` is one more number for the backward pass; LSTM's is the cell state,
// which goes from step to step.
//
//   gates                       per unit
//   apart                       whether gradients of a and b differ
//   has_cell_state              whether `kept` is a second state, passed from step to step
//   forward(a, b, h, kept)      a, b [gates], `h` and `kept` of the previous step -> both new; a is
//                               overwritten for backward
//   backward(a, da, db, ...)    from a, the states and dh the gradients da, db [gates]; `carry` is
//                               another gradient for the previous step: for LSTM dc, for the others
//                               a part of dh
template <std::floating_point T>
GPUNET_FN inline T sigmoid(T x) {
  return T{1} / (T{1} + math::exp(-x));
}

// Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000. Gates: input, forget,
// cell, output.
struct LstmCell {
  static constexpr const char* name = "LSTM";
  static constexpr int gates = 4;
  static constexpr bool apart = false, carries_dh = false, has_cell_state = true;

  template <class T>
  GPUNET_FN void forward(T (&a)[gates], const T (&b)[gates], T& h, T& kept) const {
    a[0] = sigmoid(a[0] + b[0]);
    a[1] = sigmoid(a[1] + b[1]);
    a[2] = math::tanh(a[2] + b[2]);
    a[3] = sigmoid(a[3] + b[3]);
    kept = a[1] * kept + a[0] * a[2];
    h = a[3] * math::tanh(kept);
  }
  template <class T>
  GPUNET_FN void backward(const T (&a)[gates], T /*h*/, T /*previous_h*/, T kept, T previous_kept,
                          T dh, T& carry, T (&da)[gates], T (&)[gates]) const {
    const T squashed = math::tanh(kept), dc = carry + dh * a[3] * (T{1} - squashed * squashed);
    da[0] = dc * a[2] * a[0] * (T{1} - a[0]);
    da[1] = dc * previous_kept * a[1] * (T{1} - a[1]);
    da[2] = dc * a[0] * (T{1} - a[2] * a[2]);
    da[3] = dh * squashed * a[3] * (T{1} - a[3]);
    carry = dc * a[1];
  }
};

// Cho et al. 2014, in the form in which the reset gate acts on the product. Gates: reset, update,
// new.
struct GruCell {
  static constexpr const char* name = "GRU";
  static constexpr int gates = 3;
  static constexpr bool apart = true, carries_dh = true, has_cell_state = false;

  template <class T>
  GPUNET_FN void forward(T (&a)[gates], const T (&b)[gates], T& h, T& kept) const {
    a[0] = sigmoid(a[0] + b[0]);
    a[1] = sigmoid(a[1] + b[1]);
    a[2] = math::tanh(a[2] + a[0] * b[2]);
    kept = b[2];
    h = (T{1} - a[1]) * a[2] + a[1] * h;
  }
  template <class T>
  GPUNET_FN void backward(const T (&a)[gates], T /*h*/, T previous_h, T kept, T /*previous_kept*/,
                          T dh, T& carry, T (&da)[gates], T (&db)[gates]) const {
    da[2] = dh * (T{1} - a[1]) * (T{1} - a[2] * a[2]);
    da[1] = dh * (previous_h - a[2]) * a[1] * (T{1} - a[1]);
    da[0] = da[2] * kept * a[0] * (T{1} - a[0]);
    db[0] = da[0];
    db[1] = da[1];
    db[2] = da[2] * a[0];
    carry = dh * a[1];
  }
};

// Elman 1990.
template <bool relu>
struct RnnCell {
  static constexpr const char* name = "RNN";
  static constexpr int gates = 1;
  static constexpr bool apart = false, carries_dh = false, has_cell_state = false;

  template <class T>
  GPUNET_FN void forward(T (&a)[gates], const T (&b)[gates], T& h, T&) const {
    const T sum = a[0] + b[0];
    if constexpr (relu)
      h = math::select(sum <= T{}, T{}, sum);
    else
      h = math::tanh(sum);
  }
  template <class T>
  GPUNET_FN void backward(const T (&)[gates], T h, T /*previous_h*/, T /*kept*/,
                          T /*previous_kept*/, T dh, T&, T (&da)[gates], T (&)[gates]) const {
    if constexpr (relu)
      da[0] = math::select(h <= T{}, T{}, dh);
    else
      da[0] = dh * (T{1} - h * h);
  }
};

}  // namespace gpunet
