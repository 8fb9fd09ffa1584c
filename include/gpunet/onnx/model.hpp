// ONNX models in memory: graphs of nodes that other programs saved, read from files.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/shape.hpp>
#include <gpunet/io/mapped_file.hpp>
#include <gpunet/io/tensor_file.hpp>

namespace gpunet::onnx {

// An extent: a number, or a name ("batch") of one that is known when the model runs; neither for an
// unknown extent.
struct Dimension {
  index_t size = -1;
  std::string_view name = {};
};

// An input or output of a model.
struct ValueInfo {
  std::string_view name;
  std::optional<io::Dtype> dtype = std::nullopt;  // none for texts and for types without tensors
  std::vector<Dimension> dims = {};               // with the batch
};

// A setting of a node, of the type that its kind names.
struct Attribute {
  enum class Kind { none, number, integer, text, tensor, numbers, integers, texts, other };

  std::string_view name;
  Kind kind = Kind::none;
  float number = 0;
  index_t integer = 0;
  std::string_view text = {};
  std::vector<float> numbers = {};
  std::vector<index_t> integers = {};
  std::vector<std::string_view> texts = {};
  io::TensorEntry tensor = {};
};

// An operation: the names of its inputs (empty for one that is left out) and outputs.
struct NodeInfo {
  std::string_view name, op, domain = {};
  std::vector<std::string_view> inputs = {}, outputs = {};
  std::vector<Attribute> attributes = {};

  // Returns the attribute of a name, nullptr if there is none.
  const Attribute* find(std::string_view attribute) const;
};

// Options of read.
struct ReadOptions {
  // The shapes of one sample of inputs with more unknown extents than the batch, by name:
  // onnx::read("net.onnx", {.input_sizes = {{"image", {3, 224, 224}}}}).
  std::map<std::string, Sizes, std::less<>> input_sizes = {};
  // The dimension of the batch of inputs where it is not the first, by name; the network has it
  // first: {.batch_dims = {{"sequence", 1}}} for [steps, batch, features].
  std::map<std::string, int, std::less<>> batch_dims = {};
  // Whether files are mapped: see io::ReadOptions.
  bool map = false;
};

namespace detail {

// The contents of a model. Names and tensors borrow from the files or from `decoded`.
struct ModelData {
  std::string path;
  ReadOptions options;
  std::vector<std::shared_ptr<const io::FileBytes>> files;
  std::deque<std::vector<std::byte>> decoded;  // tensors that a file stores as lists of numbers
  index_t ir_version = 0, opset = 0;
  std::string producer_name, producer_version;
  io::Metadata metadata;
  std::vector<ValueInfo> inputs, outputs;
  std::vector<NodeInfo> nodes;
  std::vector<io::TensorEntry> initializers;
  std::vector<std::string_view> functions;  // of the model's own
};

}  // namespace detail

// An ONNX model, as onnx::read returns it. A network is made of it on any device, with its weights:
//   Network net(host, onnx::read("model.onnx"));
// Copies share the contents, which do not change.
class Model {
 public:
  explicit Model(std::shared_ptr<const detail::ModelData> data) : data_(std::move(data)) {}

  const std::string& path() const { return data_->path; }
  const std::vector<ValueInfo>& inputs() const { return data_->inputs; }
  const std::vector<ValueInfo>& outputs() const { return data_->outputs; }
  // The version of the operators (of the domain ai.onnx), and of the format.
  index_t opset() const { return data_->opset; }
  index_t ir_version() const { return data_->ir_version; }
  const std::string& producer_name() const { return data_->producer_name; }
  const std::string& producer_version() const { return data_->producer_version; }
  const io::Metadata& metadata() const { return data_->metadata; }
  const std::vector<NodeInfo>& nodes() const { return data_->nodes; }
  // The tensors that the file stores: parameters, buffers and other constants.
  const std::vector<io::TensorEntry>& initializers() const { return data_->initializers; }

  const detail::ModelData& data() const { return *data_; }
  const std::shared_ptr<const detail::ModelData>& shared_data() const { return data_; }

 private:
  std::shared_ptr<const detail::ModelData> data_;
};

// Reads an ONNX file (IR 3 to 14, opset 7 to 28), with the files beside it that contain its data.
// Everything that the file states about lengths, shapes and names is checked. Throws Error naming
// the path, and the field and byte where there is one.
Model read(const std::string& path, const ReadOptions& options = {});

}  // namespace gpunet::onnx

#if !GPUNET_COMPILED
#include <gpunet/onnx/model.ipp>
#endif
