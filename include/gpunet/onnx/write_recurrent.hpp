// Recurrent layers as ONNX operators.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gpunet/onnx/node_writer.hpp>
#include <gpunet/onnx/recurrent_gates.hpp>
#include <gpunet/ops/last_step.hpp>
#include <gpunet/ops/recurrent/recurrent.hpp>

namespace gpunet::onnx::detail {

// The tensors of one layer, as ONNX has them: [directions, ...], with gates in another order.
template <class Cell>
class RecurrentTensors {
 public:
  RecurrentTensors(NodeWriter& node, const RecurrentGeometry& g)
      : node_(node), g_(g), front_(node.writer().integers("front", {0})) {
    std::vector<index_t> rows(static_cast<std::size_t>(Cell::gates * g.hidden));
    index_t row = 0;
    for (const index_t place : RecurrentGates<Cell>::places)
      for (index_t unit = 0; unit < g.hidden; ++unit)
        rows[static_cast<std::size_t>(place * g.hidden + unit)] = row++;
    if (Cell::gates > 1) rows_ = node.writer().integers("rows", rows);
  }

  std::string weight_ih(int layer) { return joined(layer, {0}); }
  std::string weight_hh(int layer) { return joined(layer, {1}); }
  std::string bias(int layer) { return g_.bias ? joined(layer, {2, 3}) : std::string(); }

 private:
  // Returns these parameters of a layer, one after another for each direction.
  std::string joined(int layer, const std::vector<int>& which) {
    std::vector<std::string> all;
    for (int direction = 0; direction < g_.directions; ++direction) {
      std::vector<std::string> parts;
      for (const int i : which) {
        const int first = (layer * g_.directions + direction) * (g_.bias ? 4 : 2);
        const std::string parameter = node_.parameter(first + i);
        parts.push_back(rows_.empty() ? parameter : node_.add("Gather", {parameter, rows_}));
      }
      all.push_back(node_.add("Unsqueeze", {node_.joined(parts), front_}));
    }
    return node_.joined(all);
  }

  NodeWriter& node_;
  const RecurrentGeometry& g_;
  std::string front_, rows_;  // names of tensors
};

// One operator for each layer. Sequences are [steps, batch, ...], states [directions, batch, ...].
template <class Cell>
void write_recurrent(NodeWriter& node, const char* op) {
  const RecurrentGeometry& g = node.node().as<RecurrentOp<Cell>>()->g;
  const std::vector<index_t> exchange{1, 0, 2};
  const int states = Cell::has_cell_state ? 2 : 1;
  GraphWriter& writer = node.writer();
  RecurrentTensors<Cell> tensors(node, g);
  std::vector<ProtoMessage> attributes{
      attribute("hidden_size", g.hidden),
      attribute("direction", std::string_view(g.directions == 2 ? "bidirectional" : "forward"))};
  if (op == std::string_view("GRU"))
    attributes.push_back(attribute("linear_before_reset", index_t{1}));
  if (op == std::string_view("RNN"))
    attributes.push_back(attribute(
        "activations", std::vector<std::string_view>(static_cast<std::size_t>(g.directions),
                                                     RecurrentGates<Cell>::activations()[0])));
  std::string x = node.transposed(node.x(), exchange);
  std::vector<std::string> initial, last[2];  // of all layers; h and c of each layer
  for (std::size_t i = 1; i < node.inputs(); ++i)
    initial.push_back(node.transposed(node.x(i), exchange));
  for (int layer = 0; layer < g.layers; ++layer) {
    std::vector<std::string> inputs{x, tensors.weight_ih(layer), tensors.weight_hh(layer),
                                    tensors.bias(layer)};
    if (g.initial_states) inputs.push_back("");  // lengths
    for (const std::string& state : initial)
      inputs.push_back(node.add("Slice", {state, writer.integers("starts", {layer * g.directions}),
                                          writer.integers("ends", {(layer + 1) * g.directions}),
                                          writer.integers("axes", {0})}));
    const auto results = writer.add_results(op, states + 1, inputs, attributes);
    x = g.directions == 1 ? node.add("Squeeze", {results[0], writer.integers("axes", {1})})
                          : node.add("Reshape", {node.transposed(results[0], {0, 2, 1, 3}),
                                                 writer.integers("shape", {0, 0, -1})});
    for (int i = 0; i < states; ++i)
      last[i].push_back(results[static_cast<std::size_t>(i) + 1]);
  }
  if (g.last_state)
    return node.give(node.add("Flatten", {node.transposed(last[0].back(), exchange)}));
  const std::string y = node.transposed(x, exchange);
  if (!g.final_states) return node.give(y);
  const value_t output = node.node().output;
  writer.add_part(output, 0, y);
  for (int i = 0; i < states; ++i)
    writer.add_part(output, g.steps * g.out() + i * g.all_states(),
                    node.transposed(node.joined(last[i]), exchange));
}

inline void write_last_step(NodeWriter& node, const char*) {
  const index_t last = node.in()[0] - 1;
  GraphWriter& writer = node.writer();
  node.give(
      node.add("Gather",
               {node.x(), writer.tensor(writer.fresh("last"), {},
                                        std::as_bytes(std::span(&last, 1)), ElementType::int64)},
               {attribute("axis", index_t{1})}));
}

}  // namespace gpunet::onnx::detail
