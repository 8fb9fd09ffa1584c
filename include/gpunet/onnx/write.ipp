// Bodies of write.hpp.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>

#include <gpunet/core/error.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/onnx/write.hpp>
#include <gpunet/onnx/write_ops.hpp>
#include <gpunet/version.hpp>

namespace gpunet::onnx::detail {

// Returns the description of an input or output [batch, ...sizes].
GPUNET_INLINE ProtoMessage value_info(const std::string& name, const Sizes& sizes,
                                      ElementType type) {
  ProtoMessage shape;
  shape.message(1, ProtoMessage().bytes(2, "batch"));
  for (const index_t extent : sizes)
    shape.message(1, ProtoMessage().integer(1, static_cast<std::uint64_t>(extent)));
  const ProtoMessage tensor =
      ProtoMessage().integer(1, static_cast<std::uint64_t>(type)).message(2, shape);
  return ProtoMessage().bytes(1, name).message(2, ProtoMessage().message(1, tensor));
}

// Returns the names of inputs or outputs: those given, or `name`, numbered if there are several.
GPUNET_INLINE std::vector<std::string> names_of(const std::string& path, const char* name,
                                                const std::vector<std::string>& given,
                                                std::size_t count) {
  require(given.empty() || given.size() == count, "gpunet::onnx: cannot write ", path, ": ",
          given.size(), " names for ", count, " ", name, "s, give one for each");
  std::vector<std::string> names = given;
  for (std::size_t i = names.size(); i < count; ++i)
    names.push_back(count == 1 ? name : concat(name, "_", i));
  return names;
}

GPUNET_INLINE void write_node(GraphWriter& writer, const Node& node) {
  NodeWriter of_node(writer, node);
  const auto found =
      std::find_if(std::begin(operator_writers), std::end(operator_writers),
                   [&](const OperatorWriter& entry) { return entry.type == node.type; });
  if (found == std::end(operator_writers)) of_node.fail("gpunet does not write this layer");
  found->write(of_node, found->op);
}

GPUNET_INLINE void write_network(const WrittenNetwork& network, const std::string& path,
                                 const WriteOptions& options) {
  const Graph& graph = network.graph;
  const std::string place = concat("gpunet::onnx: cannot write ", path);
  require(options.opset >= 17 && options.opset <= 22, place, ": opset ", options.opset,
          " (want 17 to 22), convert the file in Python with onnx.version_converter");
  GraphWriter writer(network, path, options.opset);
  for (const ParameterInfo& parameter : graph.parameters)
    writer.reserve(parameter.name);
  for (const BufferInfo& buffer : graph.buffers)
    writer.reserve(buffer.name);
  const std::vector<Sizes> inputs =
      graph.inputs.empty() ? std::vector{graph.values[0]} : graph.inputs;
  std::vector<value_t> outputs{graph.output};
  for (const Node& node : graph.nodes)
    if (!graph.outputs.empty() && node.output == graph.output) outputs = node.inputs;
  const auto input_names = names_of(path, "input", options.input_names, inputs.size()),
             output_names = names_of(path, "output", options.output_names, outputs.size());
  for (const auto* names : {&input_names, &output_names})
    for (const std::string& name : *names)
      require(!name.empty() && writer.fresh(name) == name, place, ": the name \"",
              io::detail::printable(name),
              "\" of an input or output is empty or not the only one "
              "(a parameter may have it), give another");
  writer.message().bytes(2, "gpunet");
  if (inputs.size() == 1) writer.value(0) = input_names[0];
  index_t first = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    writer.add_part(0, first, input_names[i]);
    first += inputs[i].numel();
    writer.message().message(11, value_info(input_names[i], inputs[i], writer.element_type()));
  }
  for (const Node& node : graph.nodes)
    write_node(writer, node);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    require(writer.has_batch(outputs[i]), place,
            ": an output that is a parameter or constant (it has no batch), leave it out");
    ProtoMessage node;
    node.bytes(1, writer.value(outputs[i])).bytes(2, output_names[i]).bytes(3, output_names[i]);
    writer.message().message(1, node.bytes(4, "Identity"));
    const Sizes& sizes = graph.values[static_cast<std::size_t>(outputs[i])];
    writer.message().message(12, value_info(output_names[i], sizes, writer.element_type()));
  }
  constexpr std::size_t most = std::size_t{1} << 31;
  require(writer.message().bytes().size() < most, place, ": a model of ",
          writer.message().bytes().size(),
          " bytes (the format allows 2 GB in one file), save the parameters with io::save");

  ProtoMessage model;
  model.integer(1, options.opset <= 18 ? 8 : options.opset <= 20 ? 9 : 10);
  model.bytes(2, "gpunet").bytes(3, GPUNET_VERSION).message(7, writer.message());
  model.message(8,
                ProtoMessage().bytes(1, "").integer(2, static_cast<std::uint64_t>(options.opset)));
  for (const auto& [key, value] : options.metadata)
    model.message(14, ProtoMessage().bytes(1, key).bytes(2, value));
  io::write_file_atomically(path, model.bytes());
}

}  // namespace gpunet::onnx::detail
