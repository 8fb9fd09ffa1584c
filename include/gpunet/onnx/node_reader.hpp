// The state in which nodes of an ONNX graph become nodes of a network, and one such node.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/nn/constant.hpp>
#include <gpunet/nn/functional.hpp>
#include <gpunet/nn/reshape.hpp>
#include <gpunet/onnx/fold.hpp>
#include <gpunet/onnx/model.hpp>

namespace gpunet::onnx::detail {

inline namespace GPUNET_BACKENDS {

using nn::Value;

// A value of the ONNX graph: one of the network, or a constant.
using Operand = std::variant<Known, Value>;

// The tensors that the parameters and buffers of a node of the network get.
struct Binding {
  std::size_t node;
  std::vector<io::TensorEntry> parameters, buffers;
};

// The network that is being built.
struct Building {
  const ModelData& model;
  std::unordered_map<std::string_view, Operand> operands = {};
  std::unordered_map<std::string_view, int> readers = {};              // of each value
  std::unordered_map<std::string_view, std::size_t> sole_reader = {};  // the last reader
  // The dimension of the batch in values of the file where it is not the first. It is the first one
  // in the network.
  std::unordered_map<std::string_view, int> batch_dims = {};
  // By the keys of their tensors: initializers as values, and the names of layers.
  std::unordered_map<std::string, Value> parameters = {};
  std::unordered_map<std::string, std::string> layers = {};
  std::unordered_set<std::string> names = {};  // of all parameters and buffers so far
  std::vector<Binding> bindings = {};
  std::deque<std::vector<std::byte>> folded = {};
  std::unordered_map<std::string, io::TensorEntry> joined = {};  // tensors of several parts
  std::vector<bool> is_done = {};  // of the nodes: read with an earlier one
  index_t batch = -1;              // of a file with one batch size; -1: any
  index_t folded_elements = 0;
};

// Returns a text that is the same for the same elements of the file in the same order.
inline std::string key_of(const io::TensorEntry& tensor) {
  return concat(tensor.name, " at ", reinterpret_cast<std::uintptr_t>(tensor.bytes.data()), " ",
                is_packed(tensor)
                    ? std::string()
                    : concat(to_string(tensor.sizes), " by ", to_string(tensor.strides)),
                ";");
}

// Joins the parts of a tensor. It has the name of an initializer if it is all of it.
inline void join(Building& building, Known& known) {
  if (known.parts.empty()) return;
  io::TensorEntry tensor = known.parts[0];
  if (known.parts.size() > 1) {
    std::string key;
    for (const io::TensorEntry& part : known.parts)
      key += concat(part.bytes.size(), " of ", key_of(part));
    io::TensorEntry& copy = building.joined[key];
    if (!copy.bytes.data()) {
      std::vector<std::byte>& bytes = building.folded.emplace_back();
      for (const io::TensorEntry& part : known.parts)
        bytes.insert(bytes.end(), part.bytes.begin(), part.bytes.end());
      copy = tensor;
      copy.name.clear();
      copy.bytes = bytes;
    }
    tensor = copy;
  } else if (const auto found = building.operands.find(tensor.name);
             found != building.operands.end()) {
    const Known* whole = std::get_if<Known>(&found->second);
    if (!whole || whole->tensor.bytes.size() != tensor.bytes.size()) tensor.name.clear();
  }
  tensor.sizes = known.sizes;
  known.tensor = std::move(tensor);
  known.parts.clear();
}

// The error of a node, which has its place in it.
class NodeError : public Error {
 public:
  using Error::Error;
};

// A node that is being read: its inputs and attributes, and the place of its outputs. Functions
// throw an Error that names the node for inputs and attributes that are not there or have another
// type.
class NodeReader {
 public:
  NodeReader(Building& building, std::size_t index)
      : building_(building), node_(building.model.nodes[index]), index_(index) {}

  const NodeInfo& info() const { return node_; }
  index_t opset() const { return building_.model.opset; }
  Building& building() { return building_; }
  std::size_t index() const { return index_; }

  // Returns the place of the node, for messages: "gpunet::onnx: net.onnx, node 3, Conv "conv1"".
  std::string place() const {
    return concat("gpunet::onnx: ", building_.model.path, ", node ", index_, ", ",
                  printable(node_.op), " \"", printable(node_.name), "\" (opset ", opset(), ")");
  }
  [[noreturn]] void fail(std::string_view what) const {
    throw_error(NodeError(concat(place(), ": ", what)));
  }
  void want(bool condition, std::string_view what) const {
    if (!condition) fail(what);
  }

  // The dimension of the batch in the inputs, and in the outputs that are given from now on.
  int batch_dim() const { return batch_dim_; }
  void set_batch_dim(int dim) { batch_dim_ = dim; }
  // Sets it from the inputs. Throws Error if they differ.
  void find_batch_dim() {
    bool found = false;
    for (std::size_t i = 0; i < inputs(); ++i) {
      if (!has(i) || !std::holds_alternative<Value>(operand(i))) continue;
      const auto other = building_.batch_dims.find(node_.inputs[i]);
      const int dim = other == building_.batch_dims.end() ? 0 : other->second;
      want(!found || dim == batch_dim_, concat("values whose batches are the dimensions ",
                                               batch_dim_, " and ", dim, ", transpose one"));
      batch_dim_ = dim;
      found = true;
    }
  }
  void want_batch_first() const {
    want(batch_dim_ == 0, concat("a value whose batch is dimension ", batch_dim_,
                                 " (gpunet computes this operator with the batch first), transpose "
                                 "it: batch_first=True"));
  }

  std::size_t inputs() const { return node_.inputs.size(); }
  bool has(std::size_t i) const { return i < node_.inputs.size() && !node_.inputs[i].empty(); }
  const Operand& operand(std::size_t i) const {
    if (!has(i)) fail(concat("no input ", i, " (the operator needs it), save the model again"));
    return building_.operands.at(node_.inputs[i]);
  }
  // Returns an input that the network computes.
  const Value& value(std::size_t i) const {
    const Value* value = std::get_if<Value>(&operand(i));
    if (!value)
      fail(concat("input ", i,
                  " is a constant (gpunet computes it in the network only), fold it "
                  "in Python: onnxscript.optimizer.optimize"));
    return *value;
  }
  // Returns an input that is constant, or null.
  const Known* known(std::size_t i) const {
    return has(i) ? std::get_if<Known>(&operand(i)) : nullptr;
  }
  // Returns a tensor of weights.
  const Known& weights(std::size_t i, int rank) const {
    const Known& known = tensor(i, rank);
    join(building_, std::get<Known>(building_.operands.at(node_.inputs[i])));
    return known;
  }
  // The same, perhaps in parts.
  const Known& tensor(std::size_t i, int rank) const {
    const Known* known = std::get_if<Known>(&operand(i));
    if (!known || known->is_small || known->is_repeated || !known->tensor.problem.empty() ||
        !io::is_parameter_type(known->tensor.dtype))
      fail(concat("input ", i,
                  " is no tensor of floats in the file (gpunet trains those), save it "
                  "as an initializer"));
    if (rank >= 0 && known->sizes.rank() != rank)
      fail(concat("input ", i, " of shape ", to_string(known->sizes), " (want ", rank,
                  " dimensions)"));
    for (const index_t extent : known->sizes)
      if (extent < 1) fail(concat("input ", i, " of shape ", to_string(known->sizes)));
    return *known;
  }
  // Returns the only element of a constant; nothing for other inputs.
  std::optional<double> number(std::size_t i) const {
    const Known* known = this->known(i);
    if (!known || known->is_repeated || known->sizes.numel() != 1) return std::nullopt;
    const auto numbers = numbers_of(*known);
    if (!numbers) return std::nullopt;
    return (*numbers)[0];
  }
  // Returns whole numbers: an attribute, or input i, where later opsets have it; none if neither is
  // there.
  std::optional<std::vector<index_t>> integers(std::string_view name, std::size_t i) const {
    if (const Attribute* found = node_.find(name)) return found->integers;
    if (!has(i)) return std::nullopt;
    const Known* known = this->known(i);
    std::vector<index_t> result;
    want(known && known->is_small, concat(name,
                                          " depend on the inputs (gpunet knows sizes before "
                                          "it runs), save the model with constant sizes"));
    for (const Extent& extent : known->integers) {
      want(extent.batches == 0, concat(name, " depend on the batch"));
      result.push_back(extent.number);
    }
    return result;
  }

  index_t attribute(std::string_view name, index_t otherwise) const {
    const Attribute* found = node_.find(name);
    return found ? found->integer : otherwise;
  }
  double attribute(std::string_view name, double otherwise) const {
    const Attribute* found = node_.find(name);
    return found ? static_cast<double>(found->number) : otherwise;
  }
  std::string_view attribute(std::string_view name, std::string_view otherwise) const {
    const Attribute* found = node_.find(name);
    return found ? found->text : otherwise;
  }
  // Returns `count` whole numbers from `least` to 2^20.
  std::vector<index_t> attribute(std::string_view name, std::size_t count, index_t otherwise,
                                 index_t least) const {
    const Attribute* found = node_.find(name);
    if (!found) return std::vector<index_t>(count, otherwise);
    const auto fits = [&](index_t n) {
      return least <= n && n <= 1 << 20;
    };
    if (found->integers.size() != count ||
        !std::all_of(found->integers.begin(), found->integers.end(), fits))
      fail(concat("attribute ", name, " (want ", count, " numbers from ", least, " to 2^20)"));
    return found->integers;
  }
  // Returns a dimension of x, counted as of its sample.
  int sample_dim(const Value& x, index_t axis) const {
    const index_t from = axis < 0 ? axis + x.dim() : axis;
    if (from == batch_dim_)
      fail("an operation along the batch (gpunet computes samples one by one), change the model");
    if (from < 0 || from >= x.dim())
      fail(concat("axis ", axis, " of a value with ", x.dim(), " dimensions"));
    return static_cast<int>(from < batch_dim_ ? from : from - 1);
  }
  // Returns the last dimension of x; Error if it is the batch.
  index_t features(const Value& x) const { return x.sizes()[sample_dim(x, -1)]; }

  void give(const Value& value, std::size_t output = 0) { give(Operand(value), output); }
  void give(const Operand& operand, std::size_t output = 0) {
    if (output < node_.outputs.size() && !node_.outputs[output].empty())
      give_name(node_.outputs[output], operand);
  }

  // Returns the only reader of the output of this node if it is a node of this operator that comes
  // later, else null.
  const NodeInfo* only_reader(std::string_view op) const {
    const std::string_view output = node_.outputs[0];
    const auto readers = building_.readers.find(output);
    if (readers == building_.readers.end() || readers->second != 1) return nullptr;
    const auto found = building_.sole_reader.find(output);
    if (found == building_.sole_reader.end()) return nullptr;
    const NodeInfo& reader = building_.model.nodes[found->second];
    return reader.op == op && reader.domain.empty() ? &reader : nullptr;
  }
  // Gives the output of a later node, the only reader of this one, which is not read then.
  void give_as(const NodeInfo& later, const Value& value) {
    give(value);
    give_name(later.outputs[0], value);
    building_.is_done[static_cast<std::size_t>(&later - building_.model.nodes.data())] = true;
  }

  // Returns make(name), a node of the network of x with parameters `tensors` and buffers `buffers`,
  // in the order of the layer. Their names end in `endings`. Layers are called by the name of the
  // weight, without ".weight", and a number if that name is used. Layers of one kind without
  // buffers, with the same tensors in the same layout, share their parameters; all others have
  // their own.
  static constexpr std::array<std::string_view, 4> layer_endings{".weight", ".bias",
                                                                 ".running_mean", ".running_var"};
  template <class Make>
  Value layer(std::vector<io::TensorEntry> tensors, std::vector<io::TensorEntry> buffers, Make make,
              const Value& x, std::span<const std::string_view> endings = layer_endings) {
    std::vector<io::TensorEntry> all = tensors;
    all.insert(all.end(), buffers.begin(), buffers.end());
    const bool is_matrix = node_.op == "Gemm" || node_.op == "MatMul" || node_.op == "Gather";
    std::string key(is_matrix ? "Matrix" : node_.op);
    if (!buffers.empty()) key += concat(" ", index_);
    for (const io::TensorEntry& tensor : all)
      key += concat(" ", to_string(tensor.sizes), " ", key_of(tensor));
    std::string& name = building_.layers[key];
    if (name.empty()) {
      const std::string& weight = tensors[0].name;
      const std::size_t length = weight.size() - std::min(weight.size(), endings[0].size());
      name = unused_name(length > 0 && weight.ends_with(endings[0]) ? weight.substr(0, length)
                                                                    : concat(node_.op, "_", index_),
                         all, endings);
    }
    nn::detail::ValueBuilder& builder = x.builder();
    const std::size_t before = builder.parameters(), first = builder.nodes();
    builder.enter_shared("");
    const Value y = make(name);
    builder.leave_shared();
    if (builder.parameters() > before)
      building_.bindings.push_back({first, std::move(tensors), std::move(buffers)});
    return y;
  }

  // Returns an operand beside x, to whose samples it is broadcast: a value, a parameter for an
  // initializer with several elements, else a constant.
  Value beside(std::size_t i, const Value& x) {
    if (const Value* value = std::get_if<Value>(&operand(i))) {
      want(value->dim() == x.dim(), concat("values of shapes ", nn::detail::shape_text(x.sizes()),
                                           " and ", nn::detail::shape_text(value->sizes()),
                                           " (their batches are not aligned), reshape one"));
      return *value;
    }
    const Known& known = weights(i, -1);
    Sizes sizes = known.sizes;
    while (sizes.rank() > x.dim() && sizes[0] == 1)
      sizes = sizes.tail();
    sizes = without_batch(sizes, x);
    want(sizes.numel() == known.sizes.numel() && sizes.rank() < x.dim(),
         concat("a tensor of shape ", to_string(known.sizes), " beside a value of shape ",
                nn::detail::shape_text(x.sizes())));
    if (!known.is_initializer) return constant(known, sizes, x);
    const std::string key = key_of(known.tensor);
    auto found = building_.parameters.find(key);
    if (found == building_.parameters.end()) {
      const std::string& given = known.tensor.name;
      const std::string name =
          unused_name(given.empty() ? concat(node_.op, "_", index_) : given,
                      std::span(&known.tensor, 1), std::array{std::string_view()});
      const Value parameter = nn::parameter(x, nn::constant(name, sizes, 0));
      building_.bindings.push_back({x.builder().nodes() - 1, {known.tensor}, {}});
      found = building_.parameters.emplace(key, parameter).first;
    }
    const Value& parameter = found->second;
    if (parameter.sizes() == sizes) return parameter;
    using nn::detail::ReshapeOp;
    return nn::detail::add_node<ReshapeOp>("reshape", ReshapeOp{false}, parameter, sizes);
  }

 private:
  void give_name(std::string_view name, const Operand& operand) {
    building_.operands.insert_or_assign(name, operand);
    if (batch_dim_ > 0 && std::holds_alternative<Value>(operand))
      building_.batch_dims[name] = batch_dim_;
  }

  // Returns the sizes of a tensor that is aligned with x at the last dimension, without that of the
  // batch.
  Sizes without_batch(const Sizes& sizes, const Value& x) const {
    const int batch = batch_dim_ - x.dim() + sizes.rank();
    Sizes rest;
    for (int i = 0; i < sizes.rank(); ++i)
      if (i != batch) rest.append(sizes[i]);
    return rest;
  }

  // Returns a name, with a number behind it if one of its parameters or buffers, which have these
  // endings, would be called as another one, or as another tensor of the file.
  std::string unused_name(const std::string& name, std::span<const io::TensorEntry> tensors,
                          std::span<const std::string_view> endings) const {
    const auto is_unused = [&](const std::string& prefix) {
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        const std::string full = concat(prefix, endings[i]);
        if (building_.names.contains(full) ||
            (full != tensors[i].name && building_.operands.contains(full)))
          return false;
      }
      return true;
    };
    std::string result = name;
    for (std::size_t i = index_; !is_unused(result); ++i)
      result = concat(name, "_", i);
    for (std::size_t i = 0; i < tensors.size(); ++i)
      building_.names.insert(concat(result, endings[i]));
    return result;
  }

  Value constant(const Known& known, const Sizes& sizes, const Value& x) const {
    std::vector<double> numbers(static_cast<std::size_t>(known.sizes.numel()));
    io::copy_as(known.tensor, std::span(numbers));
    return nn::constant(x, View<const double, Host>(numbers.data(), sizes));
  }

  Building& building_;
  const NodeInfo& node_;
  std::size_t index_;
  int batch_dim_ = 0;
};

}  // namespace GPUNET_BACKENDS
}  // namespace gpunet::onnx::detail
