// Recurrent layers: LSTM, GRU, RNN, and the last step of a sequence.
#pragma once

#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/nn/parameter_bounds.hpp>
#include <gpunet/nn/relu.hpp>
#include <gpunet/ops/last_step.hpp>
#include <gpunet/ops/recurrent/recurrent.hpp>

namespace gpunet::nn {

// The number of layers, each of which takes the output of the one before. In PyTorch num_layers=N.
template <index_t N>
struct NumLayers {
  using dim = Dim<N>;
};

// A second layer beside each, which runs from the last step to the first; the output is both,
// joined. In PyTorch bidirectional=True.
struct Bidirectional {};

// The output is the state after the last step instead of the states of all steps; with
// Bidirectional, that of the second direction after the first step, which is its last one. In
// PyTorch h_n of the last layer.
struct LastState {};

// Options of recurrent layers that are numbers: LSTM<64, NumLayers<2>>{{.dropout = 0.2}}.
struct RecurrentOptions {
  // The probability of zeros in the output of each layer but the last one, in training mode.
  double dropout = 0;
};

namespace detail {

// The parameters of a recurrent layer, with PyTorch's names, order and initial values. Not copied:
// specs refer to the names.
class RecurrentParameters {
 public:
  RecurrentParameters(const RecurrentGeometry& g, int gates) {
    const index_t rows = gates * g.hidden;
    // Specs refer to the strings.
    names_.reserve(static_cast<std::size_t>(4 * g.layers * g.directions));
    for (int layer = 0; layer < g.layers; ++layer)
      for (int direction = 0; direction < g.directions; ++direction) {
        const auto add = [&](const char* name, const Sizes& sizes) {
          names_.push_back(concat(name, "_l", layer, direction == 0 ? "" : "_reverse"));
          specs_.push_back(uniform(names_.back(), sizes, bias_bound(g.hidden)));
        };
        add("weight_ih", {rows, g.inputs(layer)});
        add("weight_hh", {rows, g.hidden});
        if (!g.bias) continue;
        add("bias_ih", {rows});
        add("bias_hh", {rows});
      }
  }
  RecurrentParameters(const RecurrentParameters&) = delete;
  RecurrentParameters& operator=(const RecurrentParameters&) = delete;

  std::span<const ParameterSpec> specs() const { return specs_; }

 private:
  std::vector<std::string> names_;
  std::vector<ParameterSpec> specs_;
};

// The base of recurrent layers: x [steps, features] -> y [steps, directions * hidden], the states
// of all steps, or with LastState [directions * hidden].
template <class Cell, index_t hidden, class... Options>
class Recurrent {
  static_assert(hidden >= 1,
                "gpunet::nn: a recurrent layer has no units (want 1 or more), give it a size");
  static_assert(((is_option<NumLayers, Options> || std::is_same_v<Options, Bidirectional> ||
                  std::is_same_v<Options, LastState> || is_bias<Options> ||
                  std::is_same_v<Options, ReLU>)&&...),
                "gpunet::nn: an option of a recurrent layer is none of NumLayers<...>, "
                "Bidirectional, LastState, Bias<...>, and of RNN ReLU");
  static constexpr index_t layers = option_dim<NumLayers, NumLayers<1>, Options...>{};
  static_assert(layers >= 1 && layers <= 64,
                "gpunet::nn: the number of layers of a recurrent layer has to be 1 to 64");
  static constexpr index_t directions = (std::is_same_v<Options, Bidirectional> || ...) ? 2 : 1;
  static constexpr bool bias = has_bias<Options...>;
  static constexpr bool last_state = (std::is_same_v<Options, LastState> || ...);

 public:
  constexpr Recurrent() = default;
  // Throws Error for a dropout that is no probability, or where there is no second layer.
  constexpr explicit Recurrent(const RecurrentOptions& options) : dropout_(options.dropout) {
    require(dropout_ >= 0 && dropout_ <= 1, "gpunet::nn: dropout ", dropout_,
            " of a recurrent layer (want 0 to 1), give the probability of a zero: 0.2 for 20 %");
    require(dropout_ == 0 || layers > 1, "gpunet::nn: dropout ", dropout_,
            " of a recurrent layer that has one layer (it would do nothing, zeros are made between "
            "layers), add NumLayers<2>, or put a Dropout behind it");
  }

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 2,
                  "gpunet::nn: the input of a recurrent layer has to have rank 2 [steps, "
                  "features], give Input two sizes, or put an Embedding before it");
    if constexpr (In::rank == 2) {
      require(in.template at<0>() >= 1,
              "gpunet::nn: a sequence of 0 steps for a recurrent layer (want 1 or more), give "
              "Input another size");
      if constexpr (last_state)
        return Shape(Dim<directions * hidden>{});
      else
        return Shape(in.template at<0>(), Dim<directions * hidden>{});
    } else {
      return in;
    }
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const RecurrentGeometry g{in.template at<0>(),
                              in.template at<1>(),
                              hidden,
                              layers,
                              directions,
                              bias,
                              last_state,
                              dropout_};
    const RecurrentParameters parameters(g, Cell::gates);
    return builder.add(RecurrentOp<Cell>{g}, x, output(in).sizes(), parameters.specs());
  }

 private:
  double dropout_ = 0;
};

}  // namespace detail

// The states h of long short-term memory cells, for x [steps, features] y [steps, hidden], as the
// output of torch.nn.LSTM(features, hidden, batch_first=True). Initial states are 0; the function
// lstm (functional.hpp) takes others. With Bidirectional y is [steps, 2 * hidden], with LastState
// the last state alone: LSTM<64, NumLayers<2>, Bidirectional, Bias<false>>. LSTM<64,
// NumLayers<2>>{{.dropout = 0.2}} has dropout between the layers. Hochreiter and Schmidhuber, "Long
// Short-Term Memory", Neural Computation 1997.
template <index_t hidden, class... Options>
class LSTM : public detail::Recurrent<LstmCell, hidden, Options...> {
 public:
  using detail::Recurrent<LstmCell, hidden, Options...>::Recurrent;
};

// The same with gated recurrent units, as torch.nn.GRU. Cho and others, "Learning Phrase
// Representations using RNN Encoder-Decoder", EMNLP 2014.
template <index_t hidden, class... Options>
class GRU : public detail::Recurrent<GruCell, hidden, Options...> {
 public:
  using detail::Recurrent<GruCell, hidden, Options...>::Recurrent;
};

// The same with h = tanh(W_ih x + b_ih + W_hh h + b_hh), as torch.nn.RNN; RNN<hidden, ReLU> as
// nonlinearity="relu". Elman, "Finding Structure in Time", Cognitive Science 1990.
template <index_t hidden, class... Options>
class RNN : public detail::Recurrent<RnnCell<(std::is_same_v<Options, ReLU> || ...)>, hidden,
                                     Options...> {
 public:
  using detail::Recurrent<RnnCell<(std::is_same_v<Options, ReLU> || ...)>, hidden,
                          Options...>::Recurrent;
};

// The last step of a sequence: [steps, ...] -> [...], as x[:, -1] in PyTorch.
class LastStep {
 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank >= 1,
                  "gpunet::nn::LastStep: the input has no steps (it has rank 0), give Input sizes");
    if constexpr (In::rank >= 1) {
      require(in.template at<0>() >= 1,
              "gpunet::nn::LastStep: a sequence of 0 steps (want 1 or more)");
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return Shape(in.template at<I + 1>()...);
      }
      (std::make_index_sequence<static_cast<std::size_t>(In::rank - 1)>{});
    } else {
      return in;
    }
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return builder.add(LastStepOp{}, x, output(in).sizes());
  }
};

GPUNET_REFUSED_LAYER(LSTM, "LSTM<64>, or lstm(x, 64) in a function of values", 0)
GPUNET_REFUSED_LAYER(GRU, "GRU<64>, or gru(x, 64) in a function of values", 0)
GPUNET_REFUSED_LAYER(RNN, "RNN<64>, or rnn(x, 64) in a function of values", 0)

}  // namespace gpunet::nn
