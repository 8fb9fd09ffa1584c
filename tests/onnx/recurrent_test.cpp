#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "onnx_network.hpp"

using namespace gpunet;
using namespace onnx_file;

namespace {

// A recurrent layer of ONNX: its sizes and weights.
struct Layer {
  std::string op, direction = "forward";
  index_t batch = 3, steps = 5, features = 4, hidden = 3;
  bool has_bias = true;
  std::string activation = "Tanh";

  index_t directions() const { return direction == "bidirectional" ? 2 : 1; }
  index_t gates() const { return op == "LSTM" ? 4 : op == "GRU" ? 3 : 1; }
  index_t rows() const { return gates() * hidden; }
  std::vector<float> x() const { return numbers(batch * steps * features, 1); }
  std::vector<float> w() const { return numbers(directions() * rows() * features, 2); }
  std::vector<float> r() const { return numbers(directions() * rows() * hidden, 3); }
  std::vector<float> b() const { return numbers(directions() * 2 * rows(), 4); }

  std::vector<ProtoMessage> attributes() const {
    std::vector<ProtoMessage> result{with("direction", direction.c_str()),
                                     with("hidden_size", hidden)};
    if (op == "GRU") result.push_back(with("linear_before_reset", index_t{1}));
    if (op == "RNN")
      result.push_back(with(
          "activations",
          std::vector<const char*>(static_cast<std::size_t>(directions()), activation.c_str())));
    return result;
  }
  // Appends the tensors.
  void add_to(OnnxFile& file) const {
    file.tensor(floats("W", {directions(), rows(), features}, w()))
        .tensor(floats("R", {directions(), rows(), hidden}, r()))
        .tensor(floats("B", {directions(), 2 * rows()}, b()));
  }
  std::string_view bias() const { return has_bias ? "B" : ""; }
};

double sigmoid_of(double x) {
  return 1 / (1 + std::exp(-x));
}

// The states of one sample by the formulas of ONNX: [steps, directions, hidden], and the last ones
// [directions, hidden].
struct States {
  Numbers y, h, c;
};

States states_of(const Layer& layer, index_t sample) {
  const auto x = layer.x(), w = layer.w(), r = layer.r(), b = layer.b();
  const index_t hidden = layer.hidden, rows = layer.rows(), directions = layer.directions();
  const auto at = [](const std::vector<float>& from, index_t i) {
    return static_cast<double>(from[static_cast<std::size_t>(i)]);
  };
  States result;
  result.y.resize(static_cast<std::size_t>(layer.steps * directions * hidden));
  for (index_t d = 0; d < directions; ++d) {
    Numbers h(static_cast<std::size_t>(hidden)), c = h;
    for (index_t t = 0; t < layer.steps; ++t) {
      const index_t step = d == 1 || layer.direction == "reverse" ? layer.steps - 1 - t : t;
      // The two sums of a gate of a unit.
      const auto sums = [&](index_t gate, index_t unit) {
        const index_t row = gate * hidden + unit, all = d * rows + row;
        std::array<double, 2> sum{};
        if (layer.has_bias) sum = {at(b, 2 * d * rows + row), at(b, (2 * d + 1) * rows + row)};
        for (index_t i = 0; i < layer.features; ++i)
          sum[0] += at(w, all * layer.features + i) *
                    at(x, (sample * layer.steps + step) * layer.features + i);
        for (index_t i = 0; i < hidden; ++i)
          sum[1] += at(r, all * hidden + i) * h[static_cast<std::size_t>(i)];
        return sum;
      };
      const auto sum = [&](index_t gate, index_t unit) {
        const auto [of_x, of_h] = sums(gate, unit);
        return of_x + of_h;
      };
      Numbers next = h;
      for (index_t unit = 0; unit < hidden; ++unit) {
        const auto u = static_cast<std::size_t>(unit);
        if (layer.op == "LSTM") {  // gates i, o, f, c
          c[u] =
              sigmoid_of(sum(2, unit)) * c[u] + sigmoid_of(sum(0, unit)) * std::tanh(sum(3, unit));
          next[u] = sigmoid_of(sum(1, unit)) * std::tanh(c[u]);
        } else if (layer.op == "GRU") {  // gates z, r, h
          const double z = sigmoid_of(sum(0, unit)), reset = sigmoid_of(sum(1, unit));
          const auto [of_x, of_h] = sums(2, unit);
          next[u] = (1 - z) * std::tanh(of_x + reset * of_h) + z * h[u];
        } else {
          const double all = sum(0, unit);
          next[u] = layer.activation == "Relu" ? std::max(all, 0.0) : std::tanh(all);
        }
        result.y[static_cast<std::size_t>((step * directions + d) * hidden + unit)] = next[u];
      }
      h = next;
    }
    result.h.insert(result.h.end(), h.begin(), h.end());
    result.c.insert(result.c.end(), c.begin(), c.end());
  }
  return result;
}

// One of these of all samples.
Numbers all_of(const Layer& layer, Numbers States::*which) {
  Numbers all;
  for (index_t sample = 0; sample < layer.batch; ++sample) {
    const States states = states_of(layer, sample);
    all.insert(all.end(), (states.*which).begin(), (states.*which).end());
  }
  return all;
}

const std::vector<Layer>& layers() {
  static const std::vector<Layer> all{{"LSTM"},
                                      {"LSTM", "reverse", 2, 6},
                                      {"LSTM", "bidirectional", 4, 7, 5, 2},
                                      {"LSTM", "bidirectional", 2, 3, 2, 2, false},
                                      {"GRU", "forward", 1, 4, 3, 5, false},
                                      {"GRU", "reverse"},
                                      {"GRU", "bidirectional", 17, 1},
                                      {"RNN"},
                                      {"RNN", "reverse", 2, 5, 3, 2, false, "Relu"},
                                      {"RNN", "bidirectional", 3, 5, 4, 3, true, "Relu"}};
  return all;
}

// A model of batch-first sequences: "t" is [steps, batch, features].
OnnxFile of_sequences(const Layer& layer) {
  OnnxFile file;
  file.input("x", {-1, layer.steps, layer.features}).output("y");
  layer.add_to(file);
  return file.node("Transpose", {"x"}, {"t"}, {with("perm", std::vector<index_t>{1, 0, 2})});
}

// Appends nodes that make [batch, steps, directions * hidden] of "Y", as PyTorch's exporters do.
void add_output(OnnxFile& file, const Layer& layer, std::string_view name = "y") {
  if (layer.directions() == 1) {
    file.tensor(integers("one", {1})).node("Squeeze", {"Y", "one"}, {"s"});
  } else {
    file.tensor(integers("joined", {0, 0, -1}))
        .node("Transpose", {"Y"}, {"Z"}, {with("perm", std::vector<index_t>{0, 2, 1, 3})})
        .node("Reshape", {"Z", "joined"}, {"s"});
  }
  file.node("Transpose", {"s"}, {name}, {with("perm", std::vector<index_t>{1, 0, 2})});
}

// A model with one layer, and its error.
OnnxFile model_with(const Layer& layer, const std::vector<ProtoMessage>& attributes) {
  OnnxFile file = of_sequences(layer);
  file.node(layer.op, {"t", "W", "R", "B"}, {"Y"}, attributes);
  add_output(file, layer);
  return file;
}

}  // namespace

TEST_CASE_TEMPLATE("recurrent layers are those of ONNX's formulas", D, GPUNET_TEST_DEVICES) {
  for (const Layer& layer : layers()) {
    INFO(layer.op, " ", layer.direction, " ", layer.steps);
    OnnxFile file = of_sequences(layer);
    file.node(layer.op, {"t", "W", "R", layer.bias()}, {"Y"}, layer.attributes());
    add_output(file, layer);
    check_near(run(test_device<D>(), file, layer.batch, layer.x()),
               {layer.batch, layer.steps, layer.directions() * layer.hidden},
               all_of(layer, &States::y), 2e-6);
  }
}

TEST_CASE("the last states are outputs") {
  for (const Layer& layer : layers())
    for (const bool is_cell : {false, true}) {
      if (is_cell && layer.op != "LSTM") continue;
      INFO(layer.op, " ", layer.direction);
      OnnxFile file = of_sequences(layer);
      const std::string_view h = is_cell ? "" : "h", c = is_cell ? "h" : "";
      if (layer.op == "LSTM")
        file.node("LSTM", {"t", "W", "R", layer.bias()}, {"", h, c}, layer.attributes());
      else
        file.node(layer.op, {"t", "W", "R", layer.bias()}, {"", h}, layer.attributes());
      file.node("Transpose", {"h"}, {"y"}, {with("perm", std::vector<index_t>{1, 0, 2})});
      check_near(run(test_device<Host>(), file, layer.batch, layer.x()),
                 {layer.batch, layer.directions(), layer.hidden},
                 all_of(layer, is_cell ? &States::c : &States::h), 2e-6);
    }
}

TEST_CASE("a step of the output is chosen by Gather or Slice, as Keras and PyTorch do") {
  const Layer layer{"GRU"};
  const Numbers all = all_of(layer, &States::h);
  for (const bool gathers : {true, false}) {
    OnnxFile file = of_sequences(layer);
    file.node("GRU", {"t", "W", "R", "B"}, {"Y"}, layer.attributes())
        .tensor(integers("one", {1}))
        .tensor(whole("last", -1))
        .tensor(integers("from", {-1}))
        .tensor(integers("to", {1 << 30}))
        .tensor(integers("zero", {0}));
    if (gathers)
      file.node("Squeeze", {"Y", "one"}, {"s"}).node("Gather", {"s", "last"}, {"y"});
    else
      file.node("Slice", {"Y", "from", "to", "zero"}, {"s"})
          .tensor(integers("both", {0, 1}))
          .node("Squeeze", {"s", "both"}, {"y"});
    check_near(run(test_device<Host>(), file, layer.batch, layer.x()), {layer.batch, layer.hidden},
               all, 2e-6);
  }
}

TEST_CASE("layout 1 has the batch first") {
  const Layer layer{"RNN", "bidirectional"};
  OnnxFile file;
  file.input("x", {-1, layer.steps, layer.features}).output("y");
  layer.add_to(file);
  std::vector<ProtoMessage> attributes = layer.attributes();
  attributes.push_back(with("layout", index_t{1}));
  file.node("RNN", {"x", "W", "R", "B"}, {"y"}, attributes);
  check_near(run(test_device<Host>(), file, layer.batch, layer.x()),
             {layer.batch, layer.steps, 2, layer.hidden}, all_of(layer, &States::y), 2e-6);
}

TEST_CASE("the batch of an input may be another dimension, in the network it is the first") {
  const Layer layer{"GRU"};
  OnnxFile file;
  file.input("x", {layer.steps, -1, layer.features})
      .output("y")
      .tensor(floats("weight", {layer.hidden, 2}, numbers(2 * layer.hidden, 5)))
      .tensor(integers("one", {1}));
  layer.add_to(file);
  file.node("GRU", {"x", "W", "R", "B"}, {"Y"}, layer.attributes())
      .node("Squeeze", {"Y", "one"}, {"s"})
      .node("MatMul", {"s", "weight"}, {"y"});
  OnnxFile first = of_sequences(layer);
  first.tensor(floats("weight", {layer.hidden, 2}, numbers(2 * layer.hidden, 5)))
      .node("GRU", {"t", "W", "R", "B"}, {"Y"}, layer.attributes());
  add_output(first, layer, "s2");
  first.node("MatMul", {"s2", "weight"}, {"y"});
  const auto y = run(test_device<Host>(), file, layer.batch, layer.x(), {.batch_dims = {{"x", 1}}});
  CHECK(y.to_vector() == run(test_device<Host>(), first, layer.batch, layer.x()).to_vector());
  CHECK(contains(build_error(file), "input \"x\" has an unknown extent, batch, in dimension 1"));
  CHECK(contains(build_error(file, {.batch_dims = {{"x", 3}}}),
                 "input \"x\" has 3 dimensions (batch_dims gives the batch as dimension 3)"));
  CHECK(contains(build_error(file, {.batch_dims = {{"z", 1}}}),
                 "no input \"z\" (batch_dims gives its batch), the first is \"x\""));
}

TEST_CASE("initial states of zeros are left out, whatever computes them") {
  const Layer layer{"LSTM", "bidirectional"};
  const Numbers wanted = all_of(layer, &States::y);
  for (const int kind : {0, 1, 2, 3}) {
    OnnxFile file = of_sequences(layer);
    file.tensor(whole("zero", 0))
        .tensor(integers("axis", {0}))
        .tensor(integers("two", {2}))
        .tensor(integers("four", {4}))
        .tensor(integers("hidden", {layer.hidden}))
        .tensor(floats("number", {}, {0}))
        .tensor(floats("row", {1, 1, layer.hidden}, {0, 0, 0}))
        .tensor(floats("zeros", {2, 1, layer.hidden}, std::vector<float>(2 * 3)));
    file.node("Shape", {"x"}, {"s"})
        .node("Gather", {"s", "zero"}, {"n"})
        .node("Unsqueeze", {"n", "axis"}, {"u"})
        .node("Concat", {"four", "u", "hidden"}, {"all"}, {with("axis", index_t{0})});
    if (kind == 1) file.node("ConstantOfShape", {"all"}, {"many"});
    if (kind >= 2) file.node("Expand", {kind == 2 ? "number" : "row", "all"}, {"many"});
    if (kind > 0) file.node("Slice", {"many", "two", "four", "axis"}, {"h"});
    const std::string_view h = kind == 0 ? "zeros" : "h";
    file.node("LSTM", {"t", "W", "R", "B", "", h, h}, {"Y"}, layer.attributes());
    // As the exporter of PyTorch's export: [steps, batch, directions * hidden] by Shape.
    file.tensor(integers("joined", {0, 0, -1}))
        .node("Transpose", {"Y"}, {"Z"}, {with("perm", std::vector<index_t>{0, 2, 1, 3})})
        .node("Shape", {"Z"}, {"sz"}, {with("end", index_t{2})})
        .tensor(integers("rest", {2 * layer.hidden}))
        .node("Concat", {"sz", "rest"}, {"to"}, {with("axis", index_t{0})})
        .node("Reshape", {"Z", "to"}, {"r"})
        .node("Transpose", {"r"}, {"y"}, {with("perm", std::vector<index_t>{1, 0, 2})});
    check_near(run(test_device<Host>(), file, layer.batch, layer.x()),
               {layer.batch, layer.steps, 2 * layer.hidden}, wanted, 2e-6);
  }
}

TEST_CASE("the states of one layer begin another") {
  // h after steps 0 to 4, and then 0 to 4 once more, is h after both.
  const Layer layer{"LSTM"};
  OnnxFile file = of_sequences(layer);
  file.node("LSTM", {"t", "W", "R", "B"}, {"", "h", "c"}, layer.attributes())
      .node("LSTM", {"t", "W", "R", "B", "", "h", "c"}, {"", "hh"}, layer.attributes())
      .node("Transpose", {"hh"}, {"y"}, {with("perm", std::vector<index_t>{1, 0, 2})});
  OnnxFile twice = of_sequences(layer);
  twice.node("Concat", {"t", "t"}, {"tt"}, {with("axis", index_t{0})})
      .node("LSTM", {"tt", "W", "R", "B"}, {"", "h"}, layer.attributes())
      .node("Transpose", {"h"}, {"y"}, {with("perm", std::vector<index_t>{1, 0, 2})});
  const auto y = run(test_device<Host>(), file, layer.batch, layer.x());
  const auto wanted = run(test_device<Host>(), twice, layer.batch, layer.x()).to_vector();
  check_near(y, {layer.batch, 1, layer.hidden}, {wanted.begin(), wanted.end()});
  // Both nodes have the parameters of one layer.
  Network net(test_device<Host>(), model_of(file));
  CHECK(net.named_parameters().size() == 4);
}

TEST_CASE("an exporter's parts of tensors are parameters by their names") {
  const Layer layer{"LSTM"};
  const index_t h = layer.hidden;
  OnnxFile file;
  file.input("x", {-1, layer.steps, layer.features}).output("y");
  file.tensor(floats("rnn.weight_ih_l0", {4 * h, layer.features}, layer.w()))
      .tensor(floats("rnn.weight_hh_l0", {4 * h, h}, layer.r()))
      .tensor(floats("rnn.bias_ih_l0", {4 * h}, numbers(4 * h, 5)))
      .tensor(floats("rnn.bias_hh_l0", {4 * h}, numbers(4 * h, 6)))
      .tensor(integers("axis", {0}))
      .tensor(integers("at0", {0}))
      .tensor(integers("at1", {h}))
      .tensor(integers("at3", {3 * h}))
      .tensor(integers("at4", {4 * h}));
  const std::vector<std::string> names{"rnn.weight_ih_l0", "rnn.weight_hh_l0", "rnn.bias_ih_l0",
                                       "rnn.bias_hh_l0"};
  for (const std::string& name : names)
    file.node("Slice", {name, "at0", "at1", "axis"}, {name + "i"})
        .node("Slice", {name, "at3", "at4", "axis"}, {name + "o"})
        .node("Slice", {name, "at1", "at3", "axis"}, {name + "fg"})
        .node("Concat", {name + "i", name + "o", name + "fg"}, {name + "iofg"},
              {with("axis", index_t{0})});
  file.node("Concat", {names[2] + "iofg", names[3] + "iofg"}, {"b"}, {with("axis", index_t{0})})
      .node("Unsqueeze", {"b", "axis"}, {"B"})
      .node("Unsqueeze", {names[0] + "iofg", "axis"}, {"W"})
      .node("Unsqueeze", {names[1] + "iofg", "axis"}, {"R"})
      .node("Transpose", {"x"}, {"t"}, {with("perm", std::vector<index_t>{1, 0, 2})})
      .node("LSTM", {"t", "W", "R", "B"}, {"Y"}, layer.attributes());
  add_output(file, layer);
  Host& host = test_device<Host>();
  const onnx::Model model = model_of(file);
  Network net(host, model);
  REQUIRE(net.named_parameters().size() == 4);
  const auto parameters = to_vector(host, net.parameters());
  const std::vector<float> wanted[] = {layer.w(), layer.r(), numbers(4 * h, 5), numbers(4 * h, 6)};
  for (std::size_t i = 0; i < 4; ++i) {
    const ParameterInfo& parameter = net.named_parameters()[i];
    CHECK(parameter.name == names[i]);
    const auto first = parameters.begin() + parameter.offset;
    CHECK(std::vector<float>(first, first + parameter.sizes.numel()) == wanted[i]);
  }
}

TEST_CASE("a network with a recurrent layer of a file is trained") {
  const Layer layer{"LSTM", "bidirectional"};
  OnnxFile file = model_with(layer, layer.attributes());
  Host& host = test_device<Host>();
  Network net(host, model_of(file));
  CHECK(net.named_parameters()[0].name == "LSTM_1.weight_ih_l0");
  CHECK(net.named_parameters()[7].name == "LSTM_1.bias_hh_l0_reverse");
  const Tensor<float, Host> x(host, {layer.batch, layer.steps, layer.features}, layer.x()),
      target(host, {layer.batch, layer.steps, 2 * layer.hidden},
             numbers(layer.batch * layer.steps * 2 * layer.hidden, 9));
  const auto [first, last] = losses_of_training(net, x, target, 0.5);
  CHECK(last < 0.9 * first);
}

TEST_CASE("recurrent layers that gpunet cannot compute are refused") {
  const Layer lstm{"LSTM"};
  const auto error = [&](const Layer& layer, const ProtoMessage& attribute) {
    std::vector<ProtoMessage> attributes = layer.attributes();
    attributes.insert(attributes.begin(), attribute);  // the first of a name counts
    return build_error(model_with(layer, attributes));
  };
  using Names = std::vector<const char*>;
  CHECK(contains(error(lstm, with("direction", "forwards")),
                 "m.onnx, node 1, LSTM \"LSTM_of_test\" (opset 17): direction forwards (want "
                 "forward, reverse or bidirectional)"));
  CHECK(contains(error(lstm, with("clip", 3.f)), "clip (gpunet has cells without it)"));
  CHECK(contains(error(lstm, with("input_forget", index_t{1})), "input_forget"));
  CHECK(contains(error(lstm, with("hidden_size", index_t{4})),
                 "hidden_size 4 for an R of shape [1, 12, 3]"));
  CHECK(contains(error(lstm, with("hidden_size", index_t{1} << 62)), "hidden_size 4611"));
  CHECK(contains(error(lstm, with("direction", "bidirectional")),
                 "R of shape [1, 12, 3] (want [2, 12, 3])"));
  CHECK(contains(error(lstm, with("layout", index_t{1})),
                 "whose batch is dimension 1 (want 3 and 0)"));
  CHECK(contains(error(lstm, with("activations", Names{"Sigmoid", "Tanh"})),
                 "activations Sigmoid, Tanh (gpunet's cell has Sigmoid, Tanh, Tanh)"));
  CHECK(contains(error({"RNN"}, with("activations", Names{"Softsign"})), "activations Softsign"));
  CHECK(contains(error({"RNN", "bidirectional"}, with("activations", Names{"Relu", "Tanh"})),
                 "activations Relu, Tanh (gpunet's cell has Relu, Relu)"));
  CHECK(contains(error({"GRU"}, with("linear_before_reset", index_t{0})),
                 "linear_before_reset 0 (gpunet's GRU, as PyTorch's"));

  const auto error_of_inputs = [&](std::initializer_list<std::string_view> inputs) {
    OnnxFile file = of_sequences(lstm);
    file.tensor(floats("W2", {1, 12, 5}, numbers(60, 1)))
        .tensor(floats("R2", {1, 9, 3}, numbers(27, 1)))
        .tensor(floats("B2", {1, 12}, numbers(12, 1)))
        .tensor(floats("P", {1, 9}, numbers(9, 1)))
        .tensor(floats("h", {1, 1, 3}, {0, 0, 1}))
        .tensor(raw_tensor("all", {3}, 6, std::vector<std::int32_t>{5, 5, 5}))
        .tensor(raw_tensor("some", {3}, 6, std::vector<std::int32_t>{5, 4, 5}));
    file.node("LSTM", inputs, {"Y"}, lstm.attributes());
    add_output(file, lstm);
    return build_error(file);
  };
  CHECK(error_of_inputs({"t", "W", "R", "B", "all"}).empty());
  CHECK(contains(error_of_inputs({"t", "W", "R", "B", "some"}), "sequence_lens"));
  CHECK(contains(error_of_inputs({"t", "W2", "R", "B"}),
                 "W of shape [1, 12, 5] (want [1, 12, 4]), save the model again"));
  CHECK(contains(error_of_inputs({"t", "W", "R2", "B"}), "R of shape [1, 9, 3] (want [1, 12, 3])"));
  CHECK(contains(error_of_inputs({"t", "W", "R", "B2"}), "B of shape [1, 12] (want [1, 24])"));
  CHECK(contains(error_of_inputs({"t", "W", "B", "R"}), "input 2 of shape [1, 24] (want 3 dim"));
  CHECK(contains(error_of_inputs({"t", "W"}), "no input 2 (the operator needs it)"));
  CHECK(contains(error_of_inputs({"t", "t", "R"}), "input 1 is no tensor of floats in the file"));
  CHECK(contains(error_of_inputs({"W", "W", "R"}), "input 0 is a constant"));
  CHECK(contains(error_of_inputs({"x", "W", "R"}), "whose batch is dimension 0 (want 3 and 1)"));
  CHECK(contains(error_of_inputs({"t", "W", "R", "", "", "h", "h"}),
                 "a constant initial state that is not 0"));
  CHECK(contains(error_of_inputs({"t", "W", "R", "", "", "t", "t"}),
                 "an initial state of shape [batch, 5, 4] (want [batch, 1, 3])"));
  CHECK(contains(error_of_inputs({"t", "W", "R", "", "", "x", "x"}),
                 "values whose batches are the dimensions 1 and 0"));
  CHECK(contains(error_of_inputs({"t", "W", "R", "B", "", "", "", "P"}), "peepholes"));
}

TEST_CASE("the batch may be another dimension between transpositions") {
  Host& host = test_device<Host>();
  const std::vector<float> x = numbers(3 * 4 * 2, 7), weight = numbers(6, 8);
  const auto model = [&](bool transposes) {
    OnnxFile file;
    file.input("x", {-1, 4, 2}).output("y");
    file.tensor(floats("fc.weight", {2, 3}, weight)).tensor(floats("scale", {3}, {1, -2, 3}));
    const std::vector<index_t> perm{1, 0, 2};
    std::string_view in = "x", out = "y";
    if (transposes) file.node("Transpose", {"x"}, {"t"}, {with("perm", perm)}), in = "t", out = "u";
    file.node("MatMul", {in, "fc.weight"}, {"m"})
        .node("Tanh", {"m"}, {"a"})
        .node("Mul", {"a", "scale"}, {"s"})
        .node("Softmax", {"s"}, {out}, {with("axis", index_t{-1})});
    if (transposes) file.node("Transpose", {"u"}, {"y"}, {with("perm", perm)});
    return file;
  };
  CHECK(run(host, model(true), 3, x).to_vector() == run(host, model(false), 3, x).to_vector());
  // Elements along the steps, and operators that need the batch first.
  const auto error = [&](std::string_view op, std::initializer_list<std::string_view> inputs,
                         const std::vector<ProtoMessage>& attributes = {}) {
    OnnxFile file;
    file.input("x", {-1, 4, 2}).output("y");
    file.tensor(floats("w", {2, 2, 1}, numbers(4, 1)))
        .tensor(floats("v", {4, 3, 2}, numbers(24, 1)));
    file.tensor(integers("flat", {-1, 2}));
    file.node("Transpose", {"x"}, {"t"}, {with("perm", std::vector<index_t>{1, 0, 2})})
        .node(op, inputs, {"y"}, attributes);
    return build_error(file);
  };
  CHECK(contains(error("Conv", {"t", "w"}),
                 "a value whose batch is dimension 1 (gpunet computes this operator with the batch "
                 "first), transpose it"));
  CHECK(contains(error("Flatten", {"t"}), "a value whose batch is dimension 1"));
  CHECK(contains(error("Add", {"t", "v"}), "a tensor of shape [4, 3, 2] beside a value"));
  CHECK(contains(error("Add", {"t", "x"}), "values whose batches are the dimensions 1 and 0"));
  CHECK(contains(error("Reshape", {"t", "flat"}), "gpunet keeps the batch apart"));
  CHECK(contains(error("Transpose", {"t"}, {with("perm", std::vector<index_t>{0, 0, 1})}),
                 "a perm that does not name each of 3 dimensions once"));
  CHECK(contains(error("ReduceSum", {"t"}, {with("axes", std::vector<index_t>{1})}),
                 "an operation along the batch"));
}
