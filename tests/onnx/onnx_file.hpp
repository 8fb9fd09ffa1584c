// ONNX models for tests, written message by message.
#pragma once

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/protobuf.hpp>

namespace onnx_file {

using gpunet::index_t;
using gpunet::io::detail::ProtoMessage;

inline std::uint64_t bits(index_t value) {
  return static_cast<std::uint64_t>(value);
}

// Attributes of nodes.
inline ProtoMessage with(std::string_view name, index_t value) {
  return ProtoMessage().bytes(1, name).integer(3, bits(value)).integer(20, 2);
}
inline ProtoMessage with(std::string_view name, float value) {
  return ProtoMessage().bytes(1, name).number(2, value).integer(20, 1);
}
inline ProtoMessage with(std::string_view name, const char* value) {
  return ProtoMessage().bytes(1, name).bytes(4, value).integer(20, 3);
}
inline ProtoMessage with(std::string_view name, const std::vector<index_t>& values) {
  ProtoMessage message;
  message.bytes(1, name);
  for (const index_t value : values)
    message.integer(8, bits(value));
  return message.integer(20, 7);
}
inline ProtoMessage with(std::string_view name, const std::vector<const char*>& values) {
  ProtoMessage message;
  message.bytes(1, name);
  for (const char* value : values)
    message.bytes(9, value);
  return message.integer(20, 8);
}
inline ProtoMessage with_tensor(std::string_view name, const ProtoMessage& tensor) {
  return ProtoMessage().bytes(1, name).message(5, tensor).integer(20, 4);
}

// Tensors: numbers and whole numbers as bytes.
template <class T>
ProtoMessage raw_tensor(std::string_view name, const std::vector<index_t>& dims, int type,
                        const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return ProtoMessage()
      .integers(1, dims)
      .integer(2, bits(type))
      .bytes(8, name)
      .bytes(9, gpunet::io::detail::as_text(bytes));
}
inline ProtoMessage floats(std::string_view name, const std::vector<index_t>& dims,
                           const std::vector<float>& values) {
  return raw_tensor(name, dims, 1, values);
}
inline ProtoMessage integers(std::string_view name, const std::vector<index_t>& values) {
  return raw_tensor(name, {static_cast<index_t>(values.size())}, 7, values);
}
inline ProtoMessage whole(std::string_view name, index_t value) {
  return raw_tensor(name, {}, 7, std::vector{value});
}

// An input or output; -1 is a batch of any size.
inline ProtoMessage value_info(std::string_view name, const std::vector<index_t>& dims) {
  ProtoMessage shape;
  for (const index_t dim : dims)
    shape.message(
        1, dim < 0 ? ProtoMessage().bytes(2, "batch") : ProtoMessage().integer(1, bits(dim)));
  const ProtoMessage tensor = ProtoMessage().integer(1, 1).message(2, shape);
  return ProtoMessage().bytes(1, name).message(2, ProtoMessage().message(1, tensor));
}

// A model. Nodes take the outputs of others, or "x" and other inputs.
struct OnnxFile {
  ProtoMessage graph = {};
  index_t opset = 17, ir = 8;

  OnnxFile& input(std::string_view name, const std::vector<index_t>& dims) {
    graph.message(11, value_info(name, dims));
    return *this;
  }
  OnnxFile& output(std::string_view name, const std::vector<index_t>& dims = {}) {
    graph.message(12, value_info(name, dims));
    return *this;
  }
  OnnxFile& tensor(const ProtoMessage& tensor) {
    graph.message(5, tensor);
    return *this;
  }
  OnnxFile& node(std::string_view op, std::initializer_list<std::string_view> inputs,
                 std::initializer_list<std::string_view> outputs,
                 const std::vector<ProtoMessage>& attributes = {}) {
    ProtoMessage node;
    for (const std::string_view name : inputs)
      node.bytes(1, name);
    for (const std::string_view name : outputs)
      node.bytes(2, name);
    node.bytes(3, std::string(op) + "_of_test").bytes(4, op);
    for (const ProtoMessage& attribute : attributes)
      node.message(5, attribute);
    graph.message(1, node);
    return *this;
  }
  std::string bytes() const {
    const ProtoMessage version = ProtoMessage().bytes(1, "").integer(2, bits(opset));
    return ProtoMessage()
        .integer(1, bits(ir))
        .bytes(2, "test")
        .bytes(3, "1.0")
        .message(7, graph)
        .message(8, version)
        .message(14, ProtoMessage().bytes(1, "key").bytes(2, "value"))
        .bytes();
  }
};

// Writes a file, without waiting for the disk as io::AtomicFile does.
inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A model with layers of several kinds, and constants around a Reshape.
inline OnnxFile small_model() {
  std::vector<float> weight(36), more(16);
  for (std::size_t i = 0; i < weight.size(); ++i)
    weight[i] = static_cast<float>(i % 7) / 8 - 0.25f;
  for (std::size_t i = 0; i < more.size(); ++i)
    more[i] = static_cast<float>(i % 5) / 4 - 0.5f;
  OnnxFile file;
  file.input("x", {-1, 2, 4, 4}).output("y", {-1, 2});
  file.tensor(floats("conv.weight", {2, 2, 3, 3}, weight))
      .tensor(floats("conv.bias", {2}, {0.5f, -0.5f}))
      .tensor(floats("fc.weight", {2, 8}, more))
      .tensor(whole("zero", 0))
      .tensor(integers("axis", {0}))
      .tensor(integers("rest", {-1}));
  file.node("Conv", {"x", "conv.weight", "conv.bias"}, {"c"},
            {with("pads", std::vector<index_t>{1, 1, 1, 1})})
      .node("Relu", {"c"}, {"r"})
      .node("MaxPool", {"r"}, {"p"},
            {with("kernel_shape", std::vector<index_t>{2, 2}),
             with("strides", std::vector<index_t>{2, 2})})
      .node("Shape", {"p"}, {"s"})
      .node("Gather", {"s", "zero"}, {"b"}, {with("axis", index_t{0})})
      .node("Unsqueeze", {"b", "axis"}, {"u"})
      .node("Concat", {"u", "rest"}, {"t"}, {with("axis", index_t{0})})
      .node("Reshape", {"p", "t"}, {"f"})
      .node("Gemm", {"f", "fc.weight"}, {"y"}, {with("transB", index_t{1})});
  return file;
}

}  // namespace onnx_file
