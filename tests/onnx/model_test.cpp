#include <cstdint>
#include <doctest/doctest.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/onnx.hpp>

#include "io/temp_folder.hpp"
#include "onnx_file.hpp"
#include "support/allocations.hpp"

using namespace gpunet;
using namespace onnx_file;

namespace {

onnx::Model read_bytes(const TempFolder& folder, const std::string& bytes,
                       const onnx::ReadOptions& options = {}) {
  write_bytes(folder / "m.onnx", bytes);
  return onnx::read(folder / "m.onnx", options);
}

std::string read_error(const std::string& bytes) {
  TempFolder folder;
  return error_of([&] { read_bytes(folder, bytes); });
}
std::string read_error(const OnnxFile& file) {
  return read_error(file.bytes());
}

// A model whose weight has its data in this message.
std::string model_with(const ProtoMessage& weight) {
  OnnxFile file;
  file.input("x", {-1, 2}).output("y").tensor(weight).node("MatMul", {"x", "w"}, {"y"});
  return file.bytes();
}

std::vector<double> weight_of(const onnx::Model& model) {
  const io::TensorEntry& entry = model.initializers()[0];
  std::vector<double> values(static_cast<std::size_t>(entry.sizes.numel()));
  io::copy_as(entry, std::span(values));
  return values;
}

ProtoMessage external(std::string_view location, std::string_view offset, std::string_view length) {
  ProtoMessage tensor;
  tensor.integers(1, std::vector<index_t>{2, 1}).integer(2, 1).bytes(8, "w").integer(14, 1);
  for (const auto& [key, value] :
       {std::pair{"location", location}, std::pair{"offset", offset}, std::pair{"length", length}})
    if (!value.empty()) tensor.message(13, ProtoMessage().bytes(1, key).bytes(2, value));
  return tensor;
}

}  // namespace

TEST_CASE("a model says what is in it") {
  TempFolder folder;
  const onnx::Model model = read_bytes(folder, small_model().bytes());
  CHECK(model.path() == folder / "m.onnx");
  CHECK(model.opset() == 17);
  CHECK(model.ir_version() == 8);
  CHECK(model.producer_name() == "test");
  CHECK(model.producer_version() == "1.0");
  CHECK(model.metadata() == io::Metadata{{"key", "value"}});
  CHECK(model.nodes().size() == 9);
  CHECK(model.initializers().size() == 6);
  REQUIRE(model.inputs().size() == 1);
  CHECK(model.inputs()[0].name == "x");
  CHECK(model.inputs()[0].dtype == io::Dtype::F32);
  REQUIRE(model.inputs()[0].dims.size() == 4);
  CHECK(model.inputs()[0].dims[0].name == "batch");
  CHECK(model.inputs()[0].dims[0].size == -1);
  CHECK(model.inputs()[0].dims[3].size == 4);
  CHECK(model.outputs()[0].name == "y");
  CHECK(model.nodes()[0].op == "Conv");
  CHECK(model.nodes()[0].find("pads")->integers == std::vector<index_t>{1, 1, 1, 1});
  CHECK(model.nodes()[0].find("strides") == nullptr);
}

TEST_CASE("tensors are read from bytes, lists and files beside the model") {
  TempFolder folder;
  const auto weight = [&](const ProtoMessage& tensor) {
    return weight_of(read_bytes(folder, model_with(tensor)));
  };
  const std::vector<index_t> dims{2, 1};
  const auto typed = [&](index_t type) {
    return ProtoMessage().integers(1, dims).integer(2, bits(type)).bytes(8, "w");
  };
  const std::vector<double> two{1.5, -2};
  CHECK(weight(floats("w", dims, {1.5f, -2})) == two);
  CHECK(weight(typed(1).number(4, 1.5f).number(4, -2.f)) == two);
  CHECK(weight(typed(11).numbers(10, two)) == two);
  const std::vector<index_t> numbers{7, -3};
  CHECK(weight(typed(7).integers(7, numbers)) == std::vector<double>{7, -3});
  CHECK(weight(typed(6).integers(5, numbers)) == std::vector<double>{7, -3});
  CHECK(weight(typed(3).integers(5, numbers)) == std::vector<double>{7, -3});
  CHECK(weight(typed(10).integers(5, std::vector<index_t>{0x3E00, 0xC000})) == two);
  CHECK(weight(typed(16).integers(5, std::vector<index_t>{0x3FC0, 0xC000})) == two);
  CHECK(weight(raw_tensor("w", dims, 16, std::vector<std::uint16_t>{0x3FC0, 0xC000})) == two);
  const float stored[]{0, 1.5f, -2};
  io::write_file_atomically(folder / "m.data", std::as_bytes(std::span(stored)));
  CHECK(weight(external("m.data", "4", "8")) == two);
  CHECK(weight(external("./m.data", "4", "")) == two);
}

TEST_CASE("external data outside the folder, or that are not there, are refused") {
  TempFolder folder;
  const float stored[]{0, 1.5f, -2};
  io::write_file_atomically(folder / "m.data", std::as_bytes(std::span(stored)));
  const auto error = [&](const ProtoMessage& tensor) {
    return error_of([&] { read_bytes(folder, model_with(tensor)); });
  };
  for (const char* location : {"../m.data", "/etc/passwd", "a/../../m.data", ""})
    CHECK(contains(error(external(location, "", "")), "want a file in the folder of the model"));
  CHECK(contains(error(external("m.data", "8", "8")),
                 "external data of 8 bytes at offset 8 of m.data, which has 12"));
  CHECK(contains(error(external("m.data", "99999999999999999999", "8")),
                 "external data with the offset \"99999999999999999999\""));
  CHECK(contains(error(external("m.data", "18446744073709551615", "8")), "at offset 18446744"));
  CHECK(contains(error(external("m.data", "0", "12")), "has 12 bytes of data (want 8)"));
  CHECK(contains(error(external("none.data", "0", "8")), "cannot read"));
}

TEST_CASE("models that are none are refused, with the reason") {
  CHECK(contains(read_error(""), "is empty"));
  CHECK(contains(read_error("\x89PNG\r\n\x1A\n"), "is a PNG image"));
  CHECK(contains(read_error(std::string("\x08\x08")), "no graph"));
  OnnxFile file = small_model();
  file.opset = 29;
  CHECK(contains(read_error(file), "opset 29 (want 7 to 28)"));
  file = small_model();
  file.ir = 15;
  CHECK(contains(read_error(file), "IR version 15 (want 3 to 14)"));
  file = small_model();
  CHECK(contains(read_error(file.node("Relu", {"z"}, {"q"})),
                 "node 9, Relu \"Relu_of_test\", reads \"z\", which nothing makes"));
  file = small_model();
  CHECK(contains(read_error(file.node("Relu", {"a"}, {"b2"}).node("Relu", {"b2"}, {"a"})),
                 "reads \"a\", which it or a later node makes (a cycle, or nodes out of order)"));
  file = small_model();
  CHECK(contains(read_error(file.node("Relu", {"own"}, {"own"})), "a cycle"));
  file = small_model();
  CHECK(contains(read_error(file.node("Relu", {"x"}, {"y"})), "two values are called \"y\""));
  file = small_model();
  CHECK(contains(read_error(file.output("none")), "an output is \"none\", which nothing makes"));
  file = small_model();
  CHECK(contains(read_error(file.node("", {"x"}, {"q"})), "a node without op_type or outputs"));
  const auto with_weight = [](const ProtoMessage& tensor) {
    return read_error(model_with(tensor));
  };
  CHECK(contains(with_weight(floats("w", {2, 2}, {1, 2, 3})),
                 "\"w\" of shape [2, 2] and type F32 has 12 bytes of data (want 16)"));
  CHECK(contains(with_weight(floats("w", {index_t{1} << 40, index_t{1} << 40}, {1})),
                 "has 4 bytes of data (want -1)"));
  CHECK(contains(with_weight(floats("w", {-1}, {1})), "an extent of -1"));
  CHECK(contains(with_weight(floats("w", std::vector<index_t>(9, 1), {1})),
                 "more than 8 dimensions"));
}

TEST_CASE("a model that is cut, or has another byte, is an Error or a model") {
  TempFolder folder;
  const std::string whole = small_model().bytes();
  const std::string path = folder / "m.onnx";
  int read = 0;
  const auto check = [&](const std::string& bytes) {
    write_bytes(path, bytes);
    std::string message;
    std::size_t largest = 0;
    {
      const Count count;
      message = error_of([&] {
        const auto built = build_network(onnx::read(path), nn::detail::Backend::host_float);
        ++read;
      });
      largest = count.largest();
    }
    CHECK_MESSAGE(
        (message.empty() || message.starts_with("gpunet::") || contains(message, "m.onnx")),
        message);
    CHECK(largest < std::size_t{4} << 20);
  };
  check(whole);
  CHECK(read == 1);
  for (std::size_t n = 0; n < whole.size(); ++n)
    check(whole.substr(0, n));
  // The metadata and the opset come last: some of them may be cut.
  CHECK(read < 40);
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (const int change : {1, 0x80, 0xFF}) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ change);
      check(bytes);
    }
}
