// An ONNX graph that is being written, and one node of the network in it.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/protobuf.hpp>
#include <gpunet/onnx/written_network.hpp>

namespace gpunet::onnx::detail {

using io::detail::ProtoMessage;

// Element types of TensorProto.
enum class ElementType { single = 1, int64 = 7, doubles = 11 };

// Return attributes of a node: a whole number, a number, a text, whole numbers.
inline ProtoMessage attribute(std::string_view name, index_t value) {
  return ProtoMessage().bytes(1, name).integer(3, static_cast<std::uint64_t>(value)).integer(20, 2);
}
inline ProtoMessage attribute(std::string_view name, float value) {
  return ProtoMessage().bytes(1, name).number(2, value).integer(20, 1);
}
inline ProtoMessage attribute(std::string_view name, std::string_view value) {
  return ProtoMessage().bytes(1, name).bytes(4, value).integer(20, 3);
}
inline ProtoMessage attribute(std::string_view name, const std::vector<index_t>& values) {
  ProtoMessage message;
  message.bytes(1, name);
  for (const index_t value : values)  // attributes are not packed
    message.integer(8, static_cast<std::uint64_t>(value));
  return message.integer(20, 7);
}

inline ProtoMessage attribute(std::string_view name, const std::vector<std::string_view>& values) {
  ProtoMessage message;
  message.bytes(1, name);
  for (const std::string_view value : values)
    message.bytes(9, value);
  return message.integer(20, 8);
}

// A GraphProto, built node by node.
class GraphWriter {
 public:
  GraphWriter(const WrittenNetwork& network, const std::string& path, index_t opset)
      : network_(network),
        path_(path),
        opset_(opset),
        values_(network.graph.values.size()),
        has_batch_(network.graph.values.size(), true) {}

  const WrittenNetwork& network() const { return network_; }
  const std::string& path() const { return path_; }
  index_t opset() const { return opset_; }
  ProtoMessage& message() { return message_; }

  // The name of a value of the network, and whether it has a batch: parameters do not.
  std::string& value(value_t i) { return values_[static_cast<std::size_t>(i)]; }
  std::vector<bool>::reference has_batch(value_t i) {
    return has_batch_[static_cast<std::size_t>(i)];
  }

  // A value that joins others, which are written one by one: the inputs of the network, the results
  // of a layer. `first` is the place of a part. Parts have shapes of their own.
  void add_part(value_t i, index_t first, const std::string& name) { parts_[{i, first}] = name; }
  // Returns the name of the part there, nullptr if there is none.
  const std::string* part(value_t i, index_t first) const {
    const auto found = parts_.find({i, first});
    return found == parts_.end() ? nullptr : &found->second;
  }

  // Returns a name that nothing has: this one, or with a number.
  std::string fresh(const std::string& name) {
    std::string result = name;
    for (int i = 1; !names_.insert(result).second; ++i)
      result = concat(name, "_", i);
    return result;
  }

  // Appends a node. Returns its output, whose name is fresh.
  std::string add(std::string_view op, const std::vector<std::string>& inputs,
                  const std::vector<ProtoMessage>& attributes = {}) {
    return add_results(op, 1, inputs, attributes)[0];
  }
  // The same with several outputs.
  std::vector<std::string> add_results(std::string_view op, int count,
                                       const std::vector<std::string>& inputs,
                                       const std::vector<ProtoMessage>& attributes) {
    std::vector<std::string> outputs;
    ProtoMessage node;
    for (const std::string& input : inputs)
      node.bytes(1, input);
    for (int i = 0; i < count; ++i) {
      outputs.push_back(fresh(concat(layer_, layer_.empty() ? "" : "/", op)));
      node.bytes(2, outputs.back());
    }
    node.bytes(3, outputs[0]).bytes(4, op);
    for (const ProtoMessage& attribute : attributes)
      node.message(5, attribute);
    message_.message(1, node);
    return outputs;
  }
  void set_layer(std::string_view name) { layer_ = name; }

  // Append tensors. Return their names, which are fresh but for parameters and buffers.
  std::string tensor(std::string_view name, const Sizes& sizes, std::span<const std::byte> bytes,
                     ElementType type) {
    ProtoMessage message;
    message.integers(1, {sizes.begin(), sizes.end()});
    message.integer(2, static_cast<std::uint64_t>(type)).bytes(8, name);
    message.bytes(9, io::detail::as_text(bytes));
    message_.message(5, message);
    return std::string(name);
  }
  std::string integers(std::string_view name, const std::vector<index_t>& values) {
    return tensor(fresh(std::string(name)), {std::ssize(values)}, std::as_bytes(std::span(values)),
                  ElementType::int64);
  }
  std::string numbers(std::string_view name, const Sizes& sizes,
                      const std::vector<double>& values) {
    if (network_.is_double)
      return tensor(fresh(std::string(name)), sizes, std::as_bytes(std::span(values)),
                    ElementType::doubles);
    const std::vector<float> rounded(values.begin(), values.end());
    return tensor(fresh(std::string(name)), sizes, std::as_bytes(std::span(rounded)),
                  ElementType::single);
  }
  std::string number(double value) { return numbers("number", {}, {value}); }
  // A parameter or buffer of the network, which has its place in the arena; once.
  template <class Info>
  std::string stored(const Info& info, std::span<const std::byte> arena) {
    if (!written_.insert(info.name).second) return info.name;
    const std::size_t bytes = network_.is_double ? sizeof(double) : sizeof(float);
    return tensor(info.name, info.sizes,
                  arena.subspan(static_cast<std::size_t>(info.offset) * bytes,
                                static_cast<std::size_t>(info.sizes.numel()) * bytes),
                  element_type());
  }
  void reserve(const std::string& name) { names_.insert(name); }

  ElementType element_type() const {
    return network_.is_double ? ElementType::doubles : ElementType::single;
  }

 private:
  const WrittenNetwork& network_;
  const std::string& path_;
  index_t opset_;
  std::vector<std::string> values_;
  std::map<std::pair<value_t, index_t>, std::string> parts_;
  std::vector<bool> has_batch_;
  std::set<std::string> names_, written_;
  std::string layer_;
  ProtoMessage message_;
};

// A node of the network that is being written.
class NodeWriter {
 public:
  NodeWriter(GraphWriter& writer, const Node& node) : writer_(writer), node_(node) {
    writer.set_layer(node.name);
  }

  const Node& node() const { return node_; }
  index_t opset() const { return writer_.opset(); }
  GraphWriter& writer() { return writer_; }
  const Sizes& in(std::size_t i = 0) const {
    return writer_.network().graph.values[static_cast<std::size_t>(node_.inputs[i])];
  }
  const Sizes& out() const { return writer_.network().graph.output_of(node_); }

  [[noreturn]] void fail(std::string_view what) const {
    throw_error(Error(concat("gpunet::onnx: cannot write ", writer_.path(), ": layer ", node_.name,
                             ", ", gpunet::detail::class_of(node_.layer), ": ", what,
                             " (docs/onnx.md has the list), use others")));
  }

  // Returns the name of an input with a batch.
  const std::string& x(std::size_t i = 0) {
    if (!writer_.has_batch(node_.inputs[i]))
      fail("a parameter or constant as its input, which is written for arithmetic only");
    return writer_.value(node_.inputs[i]);
  }
  // Returns the name of an input that may be a parameter.
  const std::string& any(std::size_t i = 0) { return writer_.value(node_.inputs[i]); }
  bool has_batch(std::size_t i) { return writer_.has_batch(node_.inputs[i]); }

  std::size_t inputs() const { return node_.inputs.size(); }
  bool has_parameter(int i) const { return i < node_.parameters; }
  std::string parameter(int i) {
    const auto at = static_cast<std::size_t>(node_.first_parameter + i);
    return writer_.stored(writer_.network().graph.parameters[at], writer_.network().parameters);
  }
  const Sizes& parameter_sizes(int i) const {
    return writer_.network()
        .graph.parameters[static_cast<std::size_t>(node_.first_parameter + i)]
        .sizes;
  }
  std::string buffer(int i) {
    const auto at = static_cast<std::size_t>(node_.first_buffer + i);
    return writer_.stored(writer_.network().graph.buffers[at], writer_.network().buffers);
  }

  // As GraphWriter::add.
  std::string add(std::string_view op, const std::vector<std::string>& inputs,
                  const std::vector<ProtoMessage>& attributes = {}) {
    return writer_.add(op, inputs, attributes);
  }
  // Moves the dimensions.
  std::string transposed(const std::string& x, const std::vector<index_t>& perm) {
    return add("Transpose", {x}, {attribute("perm", perm)});
  }
  // Returns tensors one after another.
  std::string joined(const std::vector<std::string>& parts) {
    return parts.size() == 1 ? parts[0] : add("Concat", parts, {attribute("axis", index_t{0})});
  }
  std::string number(double value) { return writer_.number(value); }

  // Sets the name of the node's output.
  void give(const std::string& name, bool has_batch = true) {
    writer_.value(node_.output) = name;
    writer_.has_batch(node_.output) = has_batch;
  }

 private:
  GraphWriter& writer_;
  const Node& node_;
};

}  // namespace gpunet::onnx::detail
