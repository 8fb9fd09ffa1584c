// Bodies of model.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/foreign_file.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/protobuf.hpp>
#include <gpunet/onnx/model.hpp>

namespace gpunet::onnx {

GPUNET_INLINE const Attribute* NodeInfo::find(std::string_view attribute) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const Attribute& a) { return a.name == attribute; });
  return found == attributes.end() ? nullptr : &*found;
}

namespace detail {

using io::Dtype;
using io::detail::printable;
using io::detail::ProtoReader;

inline constexpr std::size_t most_nodes = std::size_t{1} << 20;

// Returns the element type of TensorProto.DataType; nothing for texts and types without a Dtype.
GPUNET_INLINE std::optional<Dtype> dtype_of_onnx(std::uint64_t type) {
  constexpr std::array<std::optional<Dtype>, 17> types{
      std::nullopt, Dtype::F32, Dtype::U8,    Dtype::I8,   Dtype::U16, Dtype::I16,
      Dtype::I32,   Dtype::I64, std::nullopt, Dtype::BOOL, Dtype::F16, Dtype::F64,
      Dtype::U32,   Dtype::U64, Dtype::C64,   Dtype::C128, Dtype::BF16};
  return type < types.size() ? types[static_cast<std::size_t>(type)] : std::nullopt;
}

// Reads the messages of onnx.proto that gpunet uses. Fields have the numbers of
// that file.
class ModelReader {
 public:
  explicit ModelReader(ModelData& data)
      : data_(data), place_(concat("gpunet::onnx: ", data.path)) {}

  void read() {
    const std::span<const std::byte> bytes = data_.files[0]->bytes();
    io::detail::refuse_marked(io::detail::as_text(bytes), data_.path);
    require(!bytes.empty(), place_,
            " is empty (a save or a download that failed?), fetch it again");
    ProtoReader model(bytes, place_, "ModelProto");
    bool has_graph = false;
    while (model.next())
      switch (model.field()) {
        case 1:
          data_.ir_version = static_cast<index_t>(model.integer());
          break;
        case 2:
          data_.producer_name = model.text();
          break;
        case 3:
          data_.producer_version = model.text();
          break;
        case 7:
          if (has_graph) model.fail("a second graph");
          has_graph = true;
          read_graph(model.message("GraphProto"));
          break;
        case 8:
          read_opset(model.message("OperatorSetIdProto"));
          break;
        case 14: {
          auto [key, value] = read_pair(model.message("StringStringEntryProto"));
          data_.metadata[std::string(key)] = value;
          break;
        }
        case 25: {
          ProtoReader function = model.message("FunctionProto");
          while (function.next())
            if (function.field() == 1)
              data_.functions.push_back(function.text());
            else
              function.skip();
          break;
        }
        default:
          model.skip();
      }
    require(has_graph, place_, ": no graph (it is cut short, or no ONNX model), fetch it again");
    require(data_.ir_version >= 3 && data_.ir_version <= 14, place_, ": IR version ",
            data_.ir_version, " (want 3 to 14), convert it in Python with onnx.version_converter");
    require(data_.opset >= 7 && data_.opset <= 28, place_, ": opset ", data_.opset,
            " (want 7 to 28), convert it in Python with onnx.version_converter");
    check_names();
  }

 private:
  void read_opset(ProtoReader opset) {
    std::string_view domain;
    index_t version = 0;
    while (opset.next())
      switch (opset.field()) {
        case 1:
          domain = opset.text();
          break;
        case 2:
          version = static_cast<index_t>(opset.integer());
          break;
        default:
          opset.skip();
      }
    if (domain.empty() || domain == "ai.onnx") data_.opset = version;
  }

  static std::pair<std::string_view, std::string_view> read_pair(ProtoReader pair) {
    std::pair<std::string_view, std::string_view> result;
    while (pair.next())
      switch (pair.field()) {
        case 1:
          result.first = pair.text();
          break;
        case 2:
          result.second = pair.text();
          break;
        default:
          pair.skip();
      }
    return result;
  }

  void read_graph(ProtoReader graph) {
    while (graph.next())
      switch (graph.field()) {
        case 1:
          if (data_.nodes.size() == most_nodes)
            graph.fail(concat("more than ", most_nodes, " nodes"));
          data_.nodes.push_back(read_node(graph.message("NodeProto")));
          break;
        case 5:
          data_.initializers.push_back(read_tensor(graph.message("TensorProto")));
          if (data_.initializers.back().name.empty()) graph.fail("an initializer without a name");
          break;
        case 11:
          data_.inputs.push_back(read_value(graph.message("ValueInfoProto")));
          break;
        case 12:
          data_.outputs.push_back(read_value(graph.message("ValueInfoProto")));
          break;
        case 15:
          graph.fail("a sparse initializer", "(gpunet reads dense ones), save it as a dense one");
        default:
          graph.skip();
      }
  }

  NodeInfo read_node(ProtoReader node) {
    NodeInfo info;
    while (node.next())
      switch (node.field()) {
        case 1:
          info.inputs.push_back(node.text());
          break;
        case 2:
          info.outputs.push_back(node.text());
          break;
        case 3:
          info.name = node.text();
          break;
        case 4:
          info.op = node.text();
          break;
        case 5:
          info.attributes.push_back(read_attribute(node.message("AttributeProto")));
          break;
        case 7:
          info.domain = node.text();
          break;
        default:
          node.skip();
      }
    if (info.domain == "ai.onnx") info.domain = {};
    if (info.op.empty() || info.outputs.empty()) node.fail("a node without op_type or outputs");
    return info;
  }

  Attribute read_attribute(ProtoReader attribute) {
    using Kind = Attribute::Kind;
    Attribute result;
    const auto is = [&](Kind kind) {
      result.kind = kind;
    };
    while (attribute.next())
      switch (attribute.field()) {
        case 1:
          result.name = attribute.text();
          break;
        case 2:
          result.number = attribute.number(), is(Kind::number);
          break;
        case 3:
          result.integer = static_cast<index_t>(attribute.integer()), is(Kind::integer);
          break;
        case 4:
          result.text = attribute.text(), is(Kind::text);
          break;
        case 5:
          result.tensor = read_tensor(attribute.message("TensorProto")), is(Kind::tensor);
          break;
        case 7:
          attribute.numbers<float>([&](float value) { result.numbers.push_back(value); });
          is(Kind::numbers);
          break;
        case 8:
          attribute.integers(
              [&](std::uint64_t value) { result.integers.push_back(static_cast<index_t>(value)); });
          is(Kind::integers);
          break;
        case 9:
          result.texts.push_back(attribute.text()), is(Kind::texts);
          break;
        case 6:  // graphs, sparse tensors and types are not read
        case 10:
        case 11:
        case 14:
        case 21:
        case 22:
          is(Kind::other);
          attribute.skip();
          break;
        case 20:  // proto3 leaves out a list without elements, and a 0
          if (const std::uint64_t type = attribute.integer(); result.kind == Kind::none)
            is(type == 1   ? Kind::number
               : type == 2 ? Kind::integer
               : type == 3 ? Kind::text
               : type == 6 ? Kind::numbers
               : type == 7 ? Kind::integers
               : type == 8 ? Kind::texts
                           : Kind::other);
          break;
        default:
          attribute.skip();
      }
    if (result.name.empty()) attribute.fail("an attribute without a name");
    return result;
  }

  ValueInfo read_value(ProtoReader value) {
    ValueInfo info;
    while (value.next())
      if (value.field() == 1)
        info.name = value.text();
      else if (value.field() == 2)
        read_type(value.message("TypeProto"), info);
      else
        value.skip();
    if (info.name.empty()) value.fail("an input or output without a name");
    return info;
  }

  static void read_type(ProtoReader type, ValueInfo& info) {
    while (type.next()) {
      if (type.field() != 1) {
        type.skip();
        continue;
      }
      ProtoReader tensor = type.message("TypeProto.Tensor");
      while (tensor.next())
        if (tensor.field() == 1)
          info.dtype = dtype_of_onnx(tensor.integer());
        else if (tensor.field() == 2)
          read_shape(tensor.message("TensorShapeProto"), info);
        else
          tensor.skip();
    }
  }

  static void read_shape(ProtoReader shape, ValueInfo& info) {
    while (shape.next()) {
      if (shape.field() != 1) {
        shape.skip();
        continue;
      }
      if (info.dims.size() == std::size_t{Sizes::max_rank})
        shape.fail(concat("more than ", Sizes::max_rank, " dimensions"),
                   "(the most that gpunet handles), reshape it");
      Dimension dim;
      ProtoReader message = shape.message("TensorShapeProto.Dimension");
      while (message.next())
        if (message.field() == 1)
          dim.size = static_cast<index_t>(message.integer());
        else if (message.field() == 2)
          dim.name = message.text();
        else
          message.skip();
      if (dim.size < -1 || dim.size > most_elements) shape.fail(concat("an extent of ", dim.size));
      info.dims.push_back(dim);
    }
  }

  io::TensorEntry read_tensor(ProtoReader tensor) {
    io::TensorEntry entry;
    entry.file = &data_.path;
    std::uint64_t type = 0;
    std::vector<std::byte> numbers;  // of the lists
    std::optional<std::span<const std::byte>> raw;
    External external;
    const auto append = [&](auto value) {
      const auto bytes = std::as_bytes(std::span(&value, 1));
      numbers.insert(numbers.end(), bytes.begin(), bytes.end());
    };
    while (tensor.next())
      switch (tensor.field()) {
        case 1:
          tensor.integers([&](std::uint64_t extent) {
            if (entry.sizes.rank() == Sizes::max_rank)
              tensor.fail(concat("more than ", Sizes::max_rank, " dimensions"),
                          "(the most that gpunet handles), reshape it");
            if (extent > std::uint64_t{most_elements})
              tensor.fail(concat("an extent of ", static_cast<index_t>(extent)));
            entry.sizes.append(static_cast<index_t>(extent));
          });
          break;
        case 2:
          type = tensor.integer();
          break;
        case 4:
          tensor.numbers<float>(append);
          break;
        case 5:
        case 7:
        case 11:
          tensor.integers(append);  // 8 bytes each, converted below
          break;
        case 8:
          entry.name = tensor.text();
          break;
        case 9:
          raw = tensor.bytes();
          break;
        case 10:
          tensor.numbers<double>(append);
          break;
        case 13: {
          const auto [key, value] = read_pair(tensor.message("StringStringEntryProto"));
          external.take(tensor, key, value);
          break;
        }
        case 14:
          external.is_used = tensor.integer() == 1;
          break;
        default:
          tensor.skip();
      }
    const std::optional<Dtype> dtype = dtype_of_onnx(type);
    if (!dtype || io::bits_of(*dtype) < 8) {  // an Error where it is used
      entry.problem = concat("the tensor \"", printable(entry.name), "\" has data type ", type,
                             " of ONNX (gpunet has none like it)");
      return entry;
    }
    entry.dtype = *dtype;
    const index_t wanted = io::detail::byte_count(entry.dtype, entry.sizes);
    if (external.is_used) {
      entry.bytes = external_bytes(tensor, external, wanted);
    } else if (raw) {
      entry.bytes = *raw;
    } else {
      narrow(numbers, *dtype);
      data_.decoded.push_back(std::move(numbers));
      entry.bytes = data_.decoded.back();
    }
    if (wanted < 0 || std::cmp_not_equal(entry.bytes.size(), wanted))
      tensor.fail(concat("the tensor \"", printable(entry.name), "\" of shape ",
                         to_string(entry.sizes), " and type ", io::to_string(entry.dtype), " has ",
                         entry.bytes.size(), " bytes of data (want ", wanted, ")"));
    return entry;
  }

  // Converts integers of 8 bytes, as lists store them, to the type.
  static void narrow(std::vector<std::byte>& numbers, Dtype dtype) {
    const auto bytes = static_cast<std::size_t>(io::bits_of(dtype) / 8);
    if (bytes == 8 || dtype == Dtype::F32 || dtype == Dtype::C64 || dtype == Dtype::C128) return;
    for (std::size_t i = 0; i < numbers.size() / 8; ++i)
      std::memmove(numbers.data() + i * bytes, numbers.data() + i * 8, bytes);
    numbers.resize(numbers.size() / 8 * bytes);
  }

  // The place of data in a file beside the model.
  struct External {
    bool is_used = false;
    std::string_view location = {};
    std::size_t offset = 0;
    std::optional<std::size_t> length = std::nullopt;

    void take(const ProtoReader& tensor, std::string_view key, std::string_view value) {
      const auto number = [&] {
        std::size_t result = 0;
        const auto end = std::from_chars(value.data(), value.data() + value.size(), result);
        if (end.ec != std::errc{} || end.ptr != value.data() + value.size())
          tensor.fail(concat("external data with the ", key, " \"", printable(value), "\""));
        return result;
      };
      if (key == "location") location = value;
      if (key == "offset") offset = number();
      if (key == "length") length = number();
    }
  };

  std::span<const std::byte> external_bytes(const ProtoReader& tensor, const External& external,
                                            index_t wanted) {
    const std::string_view location = external.location;
    bool inside =
        !location.empty() && location[0] != '/' && location.find('\0') == std::string_view::npos;
    for (std::string_view rest = location; inside && !rest.empty();) {
      const std::size_t slash = std::min(rest.find('/'), rest.size());
      inside = rest.substr(0, slash) != "..";
      rest.remove_prefix(std::min(slash + 1, rest.size()));
    }
    if (!inside)
      tensor.fail(concat("external data in \"", printable(location), '"'),
                  "(want a file in the folder of the model), move it there");
    auto& file = external_files_[location];
    if (!file) {
      const std::size_t slash = data_.path.rfind('/');
      const std::string folder = slash == std::string::npos ? "." : data_.path.substr(0, slash + 1);
      file = std::make_shared<const io::FileBytes>(io::join(folder, location), data_.options.map);
      data_.files.push_back(file);
    }
    const std::span<const std::byte> bytes = file->bytes();
    const std::size_t length =
        external.length.value_or(static_cast<std::size_t>(std::max<index_t>(wanted, 0)));
    if (external.offset > bytes.size() || length > bytes.size() - external.offset)
      tensor.fail(concat("external data of ", length, " bytes at offset ", external.offset, " of ",
                         printable(location), ", which has ", bytes.size()));
    return bytes.subspan(external.offset, length);
  }

  // Throws Error unless each input of a node is an input of the graph, an initializer or an output
  // of a node before it, and no name has two meanings.
  void check_names() {
    enum class From { before, later };
    std::unordered_map<std::string_view, From> made;
    const auto make = [&](std::string_view name) {
      require(made.try_emplace(name, From::before).second, place_, ": two values are called \"",
              printable(name), "\" (a name has one meaning), save it again");
    };
    for (const io::TensorEntry& tensor : data_.initializers)
      make(tensor.name);
    // Until IR 4, initializers are inputs too: the defaults of these.
    std::erase_if(data_.inputs, [&](const ValueInfo& input) { return made.contains(input.name); });
    for (const ValueInfo& input : data_.inputs)
      make(input.name);
    for (const NodeInfo& node : data_.nodes)
      for (const std::string_view output : node.outputs)
        if (!output.empty())
          require(made.try_emplace(output, From::later).second, place_,
                  ": two values are called \"", printable(output),
                  "\" (a name has one meaning), save it again");
    const auto use = [&](std::string_view name, const NodeInfo* node) {
      const auto found = made.find(name);
      if (found != made.end() && found->second == From::before) return;
      const std::string reader =
          node ? concat("node ", node - data_.nodes.data(), ", ", printable(node->op), " \"",
                        printable(node->name), "\", reads")
               : "an output is";
      require(found != made.end(), place_, ": ", reader, " \"", printable(name),
              "\", which nothing makes (the file is damaged, or a part of a model), save it again");
      require(
          false, place_, ": ", reader, " \"", printable(name),
          "\", which it or a later node makes (a cycle, or nodes out of order), sort the nodes");
    };
    for (const NodeInfo& node : data_.nodes) {
      for (const std::string_view input : node.inputs)
        if (!input.empty()) use(input, &node);
      for (const std::string_view output : node.outputs)
        if (!output.empty()) made[output] = From::before;
    }
    require(!data_.outputs.empty(), place_, ": the graph has no outputs, save it again");
    for (const ValueInfo& output : data_.outputs)
      use(output.name, nullptr);
  }

  ModelData& data_;
  std::string place_;
  std::unordered_map<std::string_view, std::shared_ptr<const io::FileBytes>> external_files_;
};

}  // namespace detail

GPUNET_INLINE Model read(const std::string& path, const ReadOptions& options) {
  const auto data = std::make_shared<detail::ModelData>();
  data->path = path;
  data->options = options;
  data->files.push_back(std::make_shared<const io::FileBytes>(path, options.map));
  detail::ModelReader(*data).read();
  return Model(data);
}

}  // namespace gpunet::onnx
