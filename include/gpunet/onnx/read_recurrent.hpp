// Recurrent layers of ONNX: LSTM, GRU, RNN.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/nn/recurrent.hpp>
#include <gpunet/onnx/read_shapes.hpp>
#include <gpunet/onnx/recurrent_gates.hpp>

namespace gpunet::onnx::detail {

inline namespace GPUNET_BACKENDS {

// A recurrent layer of one node.
struct RecurrentNode {
  RecurrentGeometry g;
  bool is_reverse;      // whether it runs from the last step to the first
  bool is_batch_first;  // layout 1
  std::string_view name = {};
  std::optional<Value> h_0 = {}, c_0 = {};
};

// Throws Error for attributes and inputs that change a cell.
inline void check_cell(const NodeReader& node, int directions,
                       std::vector<std::string_view> activations) {
  const index_t steps = node.value(0).sizes()[0];
  node.want(!node.info().find("clip"), "clip (gpunet has cells without it), save it without clip");
  node.want(node.attribute("input_forget", index_t{0}) == 0,
            "input_forget (gpunet's LSTM has both gates), save it without input_forget");
  node.want(!node.has(7), "peepholes, input 7 (gpunet's LSTM has none), save it without them");
  if (node.has(4)) {
    const auto lengths = node.known(4) ? numbers_of(*node.known(4)) : std::nullopt;
    node.want(lengths && std::all_of(lengths->begin(), lengths->end(),
                                     [&](double n) { return n == static_cast<double>(steps); }),
              "sequence_lens (gpunet runs all steps of each sample), save it without them");
  }
  const Attribute* given = node.info().find("activations");
  if (!given) return;
  if (directions == 2)
    activations.insert(activations.end(), activations.begin(), activations.end());
  std::string wanted, found;
  for (const std::string_view activation : activations)
    wanted += concat(wanted.empty() ? "" : ", ", activation);
  for (const std::string_view activation : given->texts)
    found += concat(found.empty() ? "" : ", ", printable(activation));
  node.want(given->texts == activations,
            concat("activations ", found, " (gpunet's cell has ", wanted, "), save it with those"));
}

// Returns a sentence for a tensor of another shape.
inline std::string wrong_tensor(const char* name, const Sizes& sizes, const Sizes& wanted) {
  return concat(name, " of shape ", to_string(sizes), " (want ", to_string(wanted),
                "), save the model again");
}

// Returns the sizes and options of a node, with its initial states.
template <class Cell>
RecurrentNode recurrent_node(const NodeReader& node) {
  const Value& x = node.value(0);
  const std::string_view direction = node.attribute("direction", "forward");
  node.want(
      direction == "forward" || direction == "reverse" || direction == "bidirectional",
      concat("direction ", printable(direction), " (want forward, reverse or bidirectional)"));
  const index_t layout = node.attribute("layout", index_t{0});
  const int batch = layout == 0 ? 1 : 0, directions = direction == "bidirectional" ? 2 : 1;
  node.want(
      x.sizes().rank() == 2 && node.batch_dim() == batch,
      concat(
          "a value with ", x.dim(), " dimensions, whose batch is dimension ", node.batch_dim(),
          " (want 3 and ", batch,
          "), save it with batch_first=True, or name the dimension in batch_dims of onnx::read"));
  check_cell(node, directions, RecurrentGates<Cell>::activations());
  const Sizes w = node.tensor(1, 3).sizes, r = node.tensor(2, 3).sizes;
  const index_t hidden = r[2], rows = Cell::gates * hidden;
  node.want(r == Sizes{directions, rows, hidden}, wrong_tensor("R", r, {directions, rows, hidden}));
  node.want(node.attribute("hidden_size", hidden) == hidden,
            concat("hidden_size ", node.attribute("hidden_size", hidden), " for an R of shape ",
                   to_string(r), ", save the model again"));
  node.want(w == Sizes{directions, rows, x.sizes()[1]},
            wrong_tensor("W", w, {directions, rows, x.sizes()[1]}));
  if (node.has(3))
    node.want(node.tensor(3, 2).sizes == Sizes{directions, 2 * rows},
              wrong_tensor("B", node.tensor(3, 2).sizes, {directions, 2 * rows}));
  return {.g = {x.sizes()[0], x.sizes()[1], hidden, 1, directions, node.has(3)},
          .is_reverse = direction == "reverse",
          .is_batch_first = batch == 0};
}

// Returns an initial state; nothing for zeros.
inline std::optional<Value> initial_state(const NodeReader& node, const RecurrentGeometry& g,
                                          std::size_t i) {
  if (!node.has(i)) return std::nullopt;
  if (const Known* known = node.known(i)) {
    const auto numbers = numbers_of(*known);
    node.want(numbers && std::all_of(numbers->begin(), numbers->end(),
                                     [](double number) { return number == 0; }),
              concat("input ", i,
                     ", a constant initial state that is not 0 (gpunet reads zeros, and states "
                     "that depend on inputs), make it an input of the model"));
    return std::nullopt;
  }
  const Value& state = node.value(i);
  node.want(state.sizes() == Sizes{g.directions, g.hidden},
            concat("an initial state of shape ", nn::detail::shape_text(state.sizes()), " (want ",
                   nn::detail::shape_text({g.directions, g.hidden}), ")"));
  return state;
}

// Returns the parameters in the order of a layer of gpunet. Its gates have another order.
template <class Cell>
std::vector<io::TensorEntry> recurrent_parameters(NodeReader& node, const RecurrentGeometry& g) {
  std::vector<io::TensorEntry> tensors;
  const index_t rows = Cell::gates * g.hidden;
  // Elements of input i, `gate` for each gate, the first gate of ONNX at `first`.
  const auto add = [&](std::size_t i, const Sizes& sizes, index_t first) {
    const auto source = parts_of(node.tensor(i, i == 3 ? 2 : 3));
    node.want(!source.empty(), concat("input ", i,
                                      " in another order of its elements, save the "
                                      "model again"));
    Known known{.sizes = sizes};
    const index_t gate = sizes.numel() / Cell::gates;
    for (const index_t place : RecurrentGates<Cell>::places)
      append_elements(known.parts, source, first + place * gate, gate);
    join(node.building(), known);
    tensors.push_back(known.tensor);
  };
  for (index_t direction = 0; direction < g.directions; ++direction) {
    add(1, {rows, g.in}, direction * rows * g.in);
    add(2, {rows, g.hidden}, direction * rows * g.hidden);
    if (!g.bias) continue;
    add(3, {rows}, direction * 2 * rows);
    add(3, {rows}, (direction * 2 + 1) * rows);
  }
  return tensors;
}

// Reads a node; run(x, layer) returns the output, h_n and, for LSTM, c_n.
template <class Cell, class Run>
void read_recurrent(NodeReader& node, Run run) {
  RecurrentNode layer = recurrent_node<Cell>(node);
  const RecurrentGeometry& g = layer.g;
  layer.h_0 = initial_state(node, g, 5);
  if (Cell::has_cell_state) layer.c_0 = initial_state(node, g, 6);
  if (Cell::has_cell_state && layer.h_0.has_value() != layer.c_0.has_value())
    (layer.h_0 ? layer.c_0 : layer.h_0) = 0 * (layer.h_0 ? *layer.h_0 : *layer.c_0);
  std::vector<std::string> endings;
  const nn::detail::RecurrentParameters parameters(g, Cell::gates);
  for (const nn::ParameterSpec& parameter : parameters.specs())
    endings.push_back(concat(".", parameter.name));
  const Value x = layer.is_reverse ? reversed(node, node.value(0), 0) : node.value(0);
  std::vector<Value> results;
  node.layer(
      recurrent_parameters<Cell>(node, g), {},
      [&](const std::string& name) {
        layer.name = name;
        results = run(x, layer);
        return results[0];
      },
      x, std::vector<std::string_view>(endings.begin(), endings.end()));
  if (layer.is_reverse) results[0] = reversed(node, results[0], 0);
  node.set_batch_dim(layer.is_batch_first ? 0 : 2);
  node.give(view(results[0], {g.steps, g.directions, g.hidden}));
  node.set_batch_dim(layer.is_batch_first ? 0 : 1);
  for (std::size_t i = 1; i < results.size(); ++i)
    node.give(results[i], i);
}

inline void read_lstm(NodeReader& node) {
  read_recurrent<LstmCell>(node, [](const Value& x, const RecurrentNode& layer) {
    const auto [y, h, c] = nn::lstm(x, layer.g.hidden,
                                    {.bias = layer.g.bias,
                                     .bidirectional = layer.g.directions == 2,
                                     .h_0 = layer.h_0,
                                     .c_0 = layer.c_0,
                                     .name = layer.name});
    return std::vector<Value>{y, h, c};
  });
}
inline void read_gru(NodeReader& node) {
  node.want(node.attribute("linear_before_reset", index_t{0}) != 0,
            "linear_before_reset 0 (gpunet's GRU, as PyTorch's, has the reset gate behind the "
            "product), save the model with 1: reset_after=True in Keras");
  read_recurrent<GruCell>(node, [](const Value& x, const RecurrentNode& layer) {
    const auto [y, h] = nn::gru(x, layer.g.hidden,
                                {.bias = layer.g.bias,
                                 .bidirectional = layer.g.directions == 2,
                                 .h_0 = layer.h_0,
                                 .name = layer.name});
    return std::vector<Value>{y, h};
  });
}
template <bool relu>
void read_rnn_of(NodeReader& node) {
  read_recurrent<RnnCell<relu>>(node, [](const Value& x, const RecurrentNode& layer) {
    const auto [y, h] = nn::rnn(x, layer.g.hidden,
                                {.nonlinearity = relu ? "relu" : "tanh",
                                 .bias = layer.g.bias,
                                 .bidirectional = layer.g.directions == 2,
                                 .h_0 = layer.h_0,
                                 .name = layer.name});
    return std::vector<Value>{y, h};
  });
}
inline void read_rnn(NodeReader& node) {
  const Attribute* activations = node.info().find("activations");
  const bool is_relu =
      activations && !activations->texts.empty() && activations->texts[0] == "Relu";
  is_relu ? read_rnn_of<true>(node) : read_rnn_of<false>(node);
}

}  // namespace GPUNET_BACKENDS
}  // namespace gpunet::onnx::detail
