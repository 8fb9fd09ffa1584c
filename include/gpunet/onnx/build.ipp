// Bodies of build.hpp. gpunet::compiled and gpunet::cuda both contain them: the latter also chooses
// kernels of Cuda.
#pragma once

#include <set>
#include <string>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/onnx/build.hpp>
#include <gpunet/onnx/read_ops.hpp>

namespace gpunet::onnx {

namespace detail {
inline namespace GPUNET_BACKENDS {

// Returns the dimension of the batch of an input.
GPUNET_BACKENDS_INLINE int batch_dim_of(const ModelData& model, const ValueInfo& input) {
  const auto given = model.options.batch_dims.find(input.name);
  if (given == model.options.batch_dims.end()) return 0;
  require(given->second >= 0 && std::cmp_less(given->second, input.dims.size()),
          "gpunet::onnx: ", model.path, ": input \"", printable(input.name), "\" has ",
          input.dims.size(), " dimensions (batch_dims gives the batch as dimension ", given->second,
          "), change batch_dims");
  return given->second;
}

// Returns the shape of one sample of an input.
GPUNET_BACKENDS_INLINE Sizes sizes_of_input(const ModelData& model, const ValueInfo& input) {
  const std::string place =
      concat("gpunet::onnx: ", model.path, ": input \"", printable(input.name), '"');
  if (const auto given = model.options.input_sizes.find(input.name);
      given != model.options.input_sizes.end()) {
    require(input.dims.empty() || std::cmp_equal(input.dims.size(), given->second.rank() + 1),
            place, " has ", input.dims.size(), " dimensions (", to_string(given->second),
            " are given for a sample, without the batch), change input_sizes");
    require(given->second.rank() < Sizes::max_rank, place,
            " has 8 dimensions in a sample (the batch "
            "is one more), give fewer");
    return given->second;
  }
  require(!input.dims.empty(), place,
          " has no batch (want it as the first dimension), save it with one");
  Sizes sizes;
  for (std::size_t i = 0; i < input.dims.size(); ++i) {
    if (std::cmp_equal(i, batch_dim_of(model, input))) continue;
    require(input.dims[i].size >= 1, place, " has an unknown extent, ",
            input.dims[i].name.empty() ? "?" : printable(input.dims[i].name), ", in dimension ", i,
            " (gpunet knows sizes before it runs), give it: onnx::read(path, {.input_sizes = {{\"",
            printable(input.name), "\", {...}}}})");
    sizes.append(input.dims[i].size);
  }
  return sizes;
}

GPUNET_BACKENDS_INLINE const OperatorReader* find_operator(std::string_view op) {
  const auto found = std::find_if(std::begin(operator_readers), std::end(operator_readers),
                                  [&](const OperatorReader& reader) { return reader.op == op; });
  return found == std::end(operator_readers) ? nullptr : &*found;
}

// Gives Shape or Size of a value: its batch is a symbol.
GPUNET_BACKENDS_INLINE bool read_shape(NodeReader& node) {
  const bool is_shape = node.info().op == "Shape";
  if (!is_shape && node.info().op != "Size") return false;
  Known result{.is_small = true};
  if (const Value* x = std::get_if<Value>(&node.operand(0))) {
    const Extent batch{0, is_shape ? 1 : x->sizes().numel()};
    for (const index_t extent : x->sizes())
      if (is_shape) result.integers.push_back({extent});
    result.integers.insert(result.integers.begin() + (is_shape ? node.batch_dim() : 0), batch);
  } else {
    if (node.known(0)->is_repeated) return false;
    const Sizes sizes = node.known(0)->sizes;
    if (!is_shape) result.integers = {{sizes.numel()}};
    for (const index_t extent : sizes)
      if (is_shape) result.integers.push_back({extent});
  }
  if (is_shape) {
    const index_t rank = std::ssize(result.integers);
    const auto within = [&](index_t at) {
      return std::clamp<index_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const index_t start = within(node.attribute("start", index_t{0})),
                  end = std::max(start, within(node.attribute("end", rank)));
    result.integers = {result.integers.begin() + start, result.integers.begin() + end};
    result.sizes = {end - start};
  }
  node.give(Operand(std::move(result)));
  return true;
}

// Computes a node of constant inputs. Returns false if that is not possible.
GPUNET_BACKENDS_INLINE bool fold(NodeReader& node) {
  std::vector<const Known*> inputs;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    inputs.push_back(node.known(i));
    if (node.has(i) && !inputs.back()) return false;
  }
  std::optional<Known> result = Folding(node.info(), inputs, node.building().folded).run();
  if (!result) return false;
  constexpr index_t most = 1 << 22;
  if (result->is_small || !result->is_initializer)
    node.building().folded_elements += std::min<index_t>(result->sizes.numel(), most_folded);
  node.want(node.building().folded_elements <= most,
            "constants of more than 2^22 numbers in all (gpunet computes shapes only), fold them "
            "in Python: onnxscript.optimizer.optimize");
  node.give(Operand(*std::move(result)));
  return true;
}

// Reads one node, by its operator alone.
GPUNET_BACKENDS_INLINE void read_by_operator(NodeReader& node) {
  node.find_batch_dim();
  if (read_shape(node) || fold(node)) return;
  const OperatorReader* reader = find_operator(node.info().op);
  if (!reader)
    node.fail(
        "gpunet does not read this operator (docs/onnx.md has the list), replace it in the "
        "model, or load the weights into a network of your own: io::load");
  reader->read(node);
}

GPUNET_BACKENDS_INLINE void read_node(NodeReader& node) {
  const NodeInfo& info = node.info();
  if (!info.domain.empty()) {
    const auto& functions = node.building().model.functions;
    if (std::find(functions.begin(), functions.end(), info.op) != functions.end())
      node.fail(
          "a function of the model (gpunet does not inline them yet), inline it in Python: "
          "onnx.inliner.inline_local_functions");
    node.fail(concat("an operator of the domain ", printable(info.domain),
                     " (gpunet reads ai.onnx), save the model with standard operators"));
  }
  // An Error of a function of values gets the place of the node.
  gpunet::detail::attempt<Error>([&] { read_by_operator(node); },
                                 [&](const Error& error) {
                                   if (dynamic_cast<const NodeError*>(&error))
                                     gpunet::detail::rethrow();
                                   node.fail(error.what());
                                 });
  for (const std::string_view output : info.outputs)
    if (!output.empty() && !node.building().operands.contains(output) &&
        node.building().readers.contains(output))
      node.fail(concat("the output \"", printable(output), "\", which gpunet does not compute"));
}

// Names the parameters and buffers as the file does, and returns their tensors.
GPUNET_BACKENDS_INLINE BuiltNetwork bound(Graph graph, Building& building) {
  BuiltNetwork built;
  built.graph = std::move(graph);
  Graph& g = built.graph;
  built.parameters.resize(g.parameters.size());
  built.buffers.resize(g.buffers.size());
  std::set<std::string> names;
  for (const ParameterInfo& parameter : g.parameters)
    names.insert(parameter.name);
  for (const BufferInfo& buffer : g.buffers)
    names.insert(buffer.name);
  const auto bind = [&](auto& info, io::TensorEntry& entry, const io::TensorEntry& tensor) {
    GPUNET_ASSERT(info.sizes.numel() == tensor.sizes.numel());
    entry = tensor;
    if (tensor.name.empty() || tensor.name == info.name || !names.insert(tensor.name).second)
      return;
    names.erase(info.name);
    info.name = tensor.name;
  };
  for (const Binding& binding : building.bindings) {
    const Node& node = g.nodes[binding.node];
    for (std::size_t i = 0; i < binding.parameters.size(); ++i) {
      const std::size_t at = static_cast<std::size_t>(node.first_parameter) + i;
      bind(g.parameters[at], built.parameters[at], binding.parameters[i]);
    }
    for (std::size_t i = 0; i < binding.buffers.size(); ++i) {
      const std::size_t at = static_cast<std::size_t>(node.first_buffer) + i;
      bind(g.buffers[at], built.buffers[at], binding.buffers[i]);
    }
  }
  built.folded = std::move(building.folded);
  return built;
}

}  // namespace GPUNET_BACKENDS
}  // namespace detail

inline namespace GPUNET_BACKENDS {

GPUNET_BACKENDS_INLINE detail::BuiltNetwork build_network(const Model& model,
                                                          nn::detail::Backend backend) {
  using detail::Known, detail::NodeReader, detail::Operand;
  const detail::ModelData& data = model.data();
  const std::string place = concat("gpunet::onnx: ", data.path);
  detail::Building building{.model = data};
  building.is_done.resize(data.nodes.size());
  for (std::size_t i = 0; i < data.nodes.size(); ++i)
    for (const std::string_view input : data.nodes[i].inputs) {
      ++building.readers[input];
      building.sole_reader[input] = i;
    }
  for (const ValueInfo& output : data.outputs)
    ++building.readers[output.name];
  for (const io::TensorEntry& tensor : data.initializers)
    building.operands.emplace(std::string_view(tensor.name), detail::known_of(tensor, true));
  require(!data.inputs.empty(), place, ": no inputs (its outputs are constant), give a network");
  const auto check_input = [&](std::string_view name, const char* option) {
    require(std::any_of(data.inputs.begin(), data.inputs.end(),
                        [&](const ValueInfo& input) { return input.name == name; }),
            place, ": no input \"", name, "\" (", option, "), the first is \"",
            detail::printable(data.inputs[0].name), '"');
  };
  for (const auto& [name, sizes] : data.options.input_sizes)
    check_input(name, "input_sizes gives its sizes");
  for (const auto& [name, dim] : data.options.batch_dims)
    check_input(name, "batch_dims gives its batch");
  std::vector<Sizes> sizes;
  for (const ValueInfo& input : data.inputs) {
    sizes.push_back(detail::sizes_of_input(data, input));
    const int batch_dim = detail::batch_dim_of(data, input);
    const index_t batch =
        input.dims.empty() ? -1 : input.dims[static_cast<std::size_t>(batch_dim)].size;
    if (batch_dim > 0) building.batch_dims[input.name] = batch_dim;
    building.batch = sizes.size() == 1 || building.batch == batch ? batch : -1;
  }
  const auto call = [&](const std::vector<nn::Value>& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      building.operands.emplace(data.inputs[i].name, inputs[i]);
    for (std::size_t i = 0; i < data.nodes.size(); ++i) {
      if (building.is_done[i]) continue;
      NodeReader node(building, i);
      detail::read_node(node);
    }
    std::vector<nn::Value> outputs;
    for (const ValueInfo& output : data.outputs) {
      const auto found = building.operands.find(output.name);
      const nn::Value* value =
          found == building.operands.end() ? nullptr : std::get_if<nn::Value>(&found->second);
      require(value != nullptr, place, ": the output \"", detail::printable(output.name),
              "\" does not depend on the inputs (it is constant), leave it out");
      outputs.push_back(*value);
    }
    return outputs;
  };
  Graph graph = nn::detail::graph_of_call(backend, sizes, call);
  detail::BuiltNetwork built = detail::bound(std::move(graph), building);
  built.data = model.shared_data();
  return built;
}

}  // namespace GPUNET_BACKENDS

GPUNET_INLINE std::vector<std::string_view> supported_operators() {
  std::vector<std::string_view> names;
  for (const detail::OperatorReader& reader : detail::operator_readers)
    names.push_back(reader.op);
  return names;
}

}  // namespace gpunet::onnx
