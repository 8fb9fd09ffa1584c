#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/io/safetensors.hpp>

#include "python_files.hpp"
#include "temp_folder.hpp"

using namespace gpunet;
using io::Dtype;
using io::SafetensorsFile;
using io::TensorEntry;
using namespace std::string_literals;
using namespace python_files;

namespace {

template <class T>
TensorEntry entry_of(const std::string& name, Dtype dtype, const Sizes& sizes,
                     const std::vector<T>& values) {
  return {name, dtype, sizes, std::as_bytes(std::span(values))};
}

std::vector<double> values_of(const TensorEntry& entry) {
  std::vector<double> out(static_cast<std::size_t>(entry.sizes.numel()));
  io::copy_as(entry, std::span(out));
  return out;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  const auto bytes = std::as_bytes(std::span(a)), others = std::as_bytes(std::span(b));
  return std::equal(bytes.begin(), bytes.end(), others.begin(), others.end());
}

SafetensorsFile read_bytes(const TempFolder& folder, std::string_view bytes) {
  io::write_file_atomically(folder / "x", bytes);
  return SafetensorsFile::read(folder / "x");
}

// A file with this header, not padded, and `data_bytes` bytes of data.
std::string file_with(const std::string& header, std::size_t data_bytes) {
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i)
    length[i] = static_cast<char>(header.size() >> 8 * i & 0xFF);
  return length + header + std::string(data_bytes, '\0');
}

std::string header_error(const std::string& header, std::size_t data_bytes) {
  TempFolder folder;
  return error_of([&] { read_bytes(folder, file_with(header, data_bytes)); });
}

}  // namespace

TEST_CASE("a file of PyTorch is read") {
  TempFolder folder;
  const SafetensorsFile file = read_bytes(folder, two_tensors);
  REQUIRE(file.entries().size() == 2);
  CHECK(file.path() == folder / "x");
  CHECK(file.metadata() == io::Metadata{{"format", "pt"}});
  const TensorEntry &bias = file.entries()[0], &weight = file.entries()[1];
  CHECK(bias.name == "fc.bias");
  CHECK(bias.dtype == Dtype::F32);
  CHECK(bias.sizes == Sizes{2});
  CHECK(values_of(bias) == std::vector<double>{1e-3f, 7});
  CHECK(weight.name == "fc.weight");
  CHECK(weight.sizes == Sizes{2, 3});
  CHECK(values_of(weight) == std::vector<double>{1, -2, 0.5, 3.25, 0, -0.125});
}

TEST_CASE("all types, a scalar and an empty tensor are read") {
  TempFolder folder;
  const SafetensorsFile file = read_bytes(folder, many_types);
  REQUIRE(file.entries().size() == 6);
  const auto& entries = file.entries();
  CHECK(entries[0].name == "steps");
  CHECK(entries[0].dtype == Dtype::I64);
  CHECK(entries[0].sizes == Sizes{});
  CHECK(values_of(entries[1]) == std::vector<double>{0.1});
  CHECK(entries[2].sizes == Sizes{0, 3});
  CHECK(values_of(entries[2]).empty());
  // As PyTorch's .double() gives them.
  CHECK(values_of(entries[3]) ==
        std::vector<double>{1.5, -3.00405527047391e+38, 9.183549615799121e-41});
  CHECK(values_of(entries[4]) == std::vector<double>{1.5, 0, 65504, 5.9604644775390625e-08,
                                                     std::numeric_limits<double>::infinity()});
  CHECK(std::signbit(values_of(entries[4])[1]));
  CHECK(entries[5].dtype == Dtype::BOOL);
  CHECK(entries[5].bytes.size() == 3);
  io::TensorEntry complex = entries[0];  // whose 8 bytes are a C64 as well
  complex.dtype = Dtype::C64;
  CHECK(contains(error_of([&] { values_of(complex); }),
                 "\"steps\" has elements of C64 (complex; gpunet reads real numbers), save its "
                 "real and imaginary parts"));
  std::vector<float> few(2);
  CHECK(contains(error_of([&] { io::copy_as(entries[4], std::span(few)); }),
                 "\"half\" of shape [5] for 2 elements (want 5), make room"));
  std::vector<float> one(1);
  io::copy_as(entries[1], std::span(one));
  CHECK(one[0] == 0.1f);
}

TEST_CASE("tensors that stay in the file are read when they are wanted, in any type") {
  TempFolder folder;
  for (const std::string& bytes : {two_tensors, many_types, odd_name}) {
    const SafetensorsFile whole = read_bytes(folder, bytes),
                          opened = SafetensorsFile::open(folder / "x");
    CHECK(opened.metadata() == whole.metadata());
    REQUIRE(opened.entries().size() == whole.entries().size());
    for (std::size_t i = 0; i < whole.entries().size(); ++i) {
      const TensorEntry &a = opened.entries()[i], &b = whole.entries()[i];
      CHECK(a.name == b.name);
      CHECK(a.bytes.empty());
      if (!is_parameter_type(b.dtype)) continue;
      std::vector<float> floats(static_cast<std::size_t>(a.sizes.numel())), expected(floats.size());
      io::copy_as(a, std::span(floats));
      io::copy_as(b, std::span(expected));
      CHECK(same_bits(floats, expected));
      CHECK(same_bits(values_of(a), values_of(b)));
      std::vector<float> too_many(floats.size() + 1);
      CHECK(contains(error_of([&] { io::copy_as(a, std::span(too_many)); }), "make room"));
    }
  }
}

TEST_CASE("what is written is byte for byte what PyTorch writes") {
  TempFolder folder;
  const auto written = [&](const std::vector<TensorEntry>& entries,
                           const io::Metadata& metadata = {}) {
    io::write_safetensors(folder / "y", entries, metadata);
    return read_text(folder / "y");
  };
  const std::vector<float> weight{1, -2, 0.5, 3.25, 0, -0.125}, bias{1e-3f, 7}, one{1}, none;
  CHECK(written({entry_of("fc.weight", Dtype::F32, {2, 3}, weight),
                 entry_of("fc.bias", Dtype::F32, {2}, bias)},
                {{"format", "pt"}}) == two_tensors);
  const std::vector<std::uint16_t> half{0x3E00, 0x8000, 0x7BFF, 1, 0x7C00}, bf{0x3FC0, 0xFF62, 1};
  const std::vector<double> wide{0.1};
  const std::vector<std::int64_t> steps{7};
  const std::vector<unsigned char> mask{1, 0, 1};
  CHECK(written({entry_of("half", Dtype::F16, {5}, half), entry_of("bf", Dtype::BF16, {3}, bf),
                 entry_of("wide", Dtype::F64, {}, wide), entry_of("none", Dtype::F32, {0, 3}, none),
                 entry_of("steps", Dtype::I64, {}, steps),
                 entry_of("mask", Dtype::BOOL, {3}, mask)}) == many_types);
  CHECK(written({entry_of("a\"\\\n\xc3\xa9\xf0\x9f\x98\x80\x01", Dtype::F32, {1}, one)},
                {{"k\t", "\x7f"}}) == odd_name);
  CHECK(written({}) == nothing);
}

TEST_CASE("odd names and empty files are read") {
  TempFolder folder;
  const SafetensorsFile odd = read_bytes(folder, odd_name);
  CHECK(odd.entries().at(0).name == "a\"\\\n\xc3\xa9\xf0\x9f\x98\x80\x01");
  CHECK(odd.metadata() == io::Metadata{{"k\t", "\x7f"}});
  const SafetensorsFile without_arrays = read_bytes(folder, nothing);
  CHECK(without_arrays.entries().empty());
}

TEST_CASE("tensors may be listed in any order, spaced, and not aligned") {
  TempFolder folder;
  const SafetensorsFile file = read_bytes(
      folder, file_with(R"({ "b" : { "data_offsets" : [ 1 , 9 ] , "shape":[2], "dtype":"F32"},
                       "a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}, "e":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}})"
                        "\n  ",
                        9));
  REQUIRE(file.entries().size() == 3);
  CHECK(file.entries()[0].name == "a");
  CHECK(file.entries()[1].name == "e");
  CHECK(file.entries()[2].name == "b");
  CHECK(values_of(file.entries()[2]) == std::vector<double>{0, 0});
}

TEST_CASE("a file that is no safetensors file is refused") {
  TempFolder folder;
  const auto message_for = [&](std::string_view bytes) {
    return error_of([&] { read_bytes(folder, bytes); });
  };
  CHECK(contains(message_for(""), "x has 0 bytes (a safetensors file has at least 8)"));
  CHECK(contains(message_for("PK\x03\x04\0\0\x08\x08\0\0\0\0"s),
                 "it is damaged, or no safetensors file"));
  CHECK(
      contains(message_for("\0\0\0\0\0\0\0\0"s), "byte 8: no '{' at the beginning of the header"));
  CHECK(contains(
      message_for("\xff\xff\xff\xff\xff\xff\xff\xff{}"s),
      "a header of 18446744073709551615 bytes (the format allows 100000000: it is damaged, "));
  message_for("\1\xe1\xf5\5\0\0\0\0{"s);  // a header of 100,000,001 bytes, which are all there
  std::filesystem::resize_file(folder / "x", 8 + 100'000'001);
  CHECK(error_of([&] { SafetensorsFile::read(folder / "x"); })
            .ends_with(": a header of 100000001 bytes (the format allows 100000000: it is damaged, "
                       "or no safetensors "
                       "file), give the file that was meant, or save this one again, in several "
                       "files where it has too "
                       "many tensors"));
  CHECK(contains(
      message_for("\0\xe1\xf5\5\0\0\0\0{"s),
      ": a header of 100000000 bytes in a file of 9 (it is cut short, or no safetensors file)"));
  CHECK(
      contains(message_for(two_tensors.substr(0, two_tensors.size() - 1)),
               "31 bytes of data follow the header (want 32: the file is cut short or too long)"));
  CHECK(contains(message_for(two_tensors + '\0'), "33 bytes of data follow the header (want 32"));
  CHECK(contains(error_of([&] { SafetensorsFile::read(folder / "none"); }),
                 "none: No such file or directory"));
}

TEST_CASE("a header is checked in full, and the message says where") {
  const auto with = [](const std::string& tensor, std::size_t data_bytes = 8) {
    return header_error("{\"a\":{" + tensor + "}}", data_bytes);
  };
  CHECK(with(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])").empty());
  CHECK(contains(with(R"("dtype":"F9","shape":[2],"data_offsets":[0,8])"),
                 "x, byte 26: the unknown dtype \"F9\" (gpunet has none like it, or the file is "
                 "damaged), save another"));
  CHECK(contains(with(R"("dtype":"F32","shape":[2])"), "without dtype, shape or data_offsets"));
  CHECK(contains(with(R"("dtype":"F32","shape":[2],"shape":[2])"), "twice"));
  CHECK(contains(with(R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1)"),
                 "the unknown key \"x\""));
  CHECK(contains(with(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"),
                 "expected an unsigned integer"));
  CHECK(contains(with(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"), "a fraction"));
  CHECK(contains(with(R"("dtype":"F32","shape":[2],"data_offsets":[8])"), "no [begin, end]"));
  CHECK(contains(with(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,9])"),
                 "more than two data_offsets"));
  CHECK(contains(with(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), "no [begin, end]"));
  CHECK(contains(with(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"),
                 "the tensor \"a\" of shape [3] and dtype F32 does not fit its 8 bytes"));
  CHECK(contains(with(R"("dtype":"F4","shape":[3],"data_offsets":[0,1])", 1), "does not fit"));
  CHECK(with(R"("dtype":"F4","shape":[2],"data_offsets":[0,1])", 1).empty());
  CHECK(contains(with(R"("dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8])"),
                 "more than 8 dimensions (the most that gpunet handles), reshape it"));
  // 2^62 * 4 bytes, 2^31 * 2^31 * 2^31, and an empty tensor whose other extents cannot be
  // multiplied.
  CHECK(contains(with(R"("dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0])", 0),
                 "does not fit"));
  CHECK(contains(
      with(R"("dtype":"U8","shape":[2147483648,2147483648,2147483648],"data_offsets":[0,0])", 0),
      "does not fit"));
  CHECK(contains(with(R"("dtype":"U8","shape":[0,4611686018427387904,4],"data_offsets":[0,0])", 0),
                 "does not fit"));
  CHECK(contains(with(R"("dtype":"F32","shape":[2],"data_offsets":[0,9223372036854775807])"),
                 "does not fit"));
}

TEST_CASE("tensors cover the data without holes and overlaps") {
  const auto two = [](const std::string& first, const std::string& second, std::size_t data_bytes) {
    return header_error(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)" + first +
                            R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)" + second + "}}",
                        data_bytes);
  };
  CHECK(two("[0,8]", "[8,16]", 16).empty());
  CHECK(two("[8,16]", "[0,8]", 16).empty());
  CHECK(contains(two("[0,8]", "[9,17]", 17),
                 "\"b\" begins at byte 9 of the data (want 8: no holes, no overlaps)"));
  CHECK(contains(two("[0,8]", "[7,15]", 15), "\"b\" begins at byte 7 of the data (want 8"));
  CHECK(contains(two("[0,8]", "[0,8]", 8), "\"b\" begins at byte 0 of the data (want 8"));
  CHECK(contains(two("[1,9]", "[9,17]", 17), "\"a\" begins at byte 1 of the data (want 0"));
  CHECK(contains(two("[0,8]", "[8,16]", 8), "8 bytes of data follow the header (want 16"));
}

TEST_CASE("metadata is a map of texts, and no key is there twice") {
  CHECK(header_error(R"({"__metadata__":{}})", 0).empty());
  CHECK(contains(header_error(R"({"__metadata__":{"a":1}})", 0), "expected '\"'"));
  CHECK(contains(header_error(R"({"__metadata__":{"a":"1","a":"2"}})", 0),
                 "the key \"a\" occurs twice"));
  CHECK(contains(header_error(R"({"__metadata__":{},"__metadata__":{}})", 0), "twice"));
  CHECK(contains(
      header_error(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\u0061":{}})", 0),
      "twice"));
  CHECK(contains(header_error(R"({} {})", 0), "more text than wanted"));
  CHECK(contains(header_error(R"([])", 0), "no '{' at the beginning"));
}

TEST_CASE("what the format cannot hold is not written") {
  TempFolder folder;
  const std::vector<float> one{1};
  const TensorEntry a = entry_of("a", Dtype::F32, {1}, one);
  const auto message_for = [&](const std::vector<TensorEntry>& entries,
                               const io::Metadata& metadata = {}) {
    return error_of([&] { io::write_safetensors(folder / "y", entries, metadata); });
  };
  CHECK(contains(message_for({a, a}), "\"a\" is the name of two tensors"));
  CHECK(contains(message_for({entry_of("__metadata__", Dtype::F32, {1}, one)}),
                 "means something else"));
  CHECK(contains(message_for({entry_of("\xff", Dtype::F32, {1}, one)}), "is not UTF-8"));
  CHECK(contains(message_for({a}, {{"k", "\xff"}}), "the metadata \"k\" is not UTF-8"));
  CHECK(contains(message_for({entry_of("a", Dtype::F32, {2}, one)}),
                 "has 4 bytes, which do not fit its shape [2] and dtype F32"));
  CHECK(folder.count() == 0);
}

TEST_CASE(
    "a file cut anywhere, or with any bit turned, is an Error or a whole file, never anything "
    "else") {
  TempFolder folder;
  const std::string path = folder / "x";
  const auto message_of = [](auto read) {
    return error_of([&] {
      const SafetensorsFile file = read();
      for (const TensorEntry& entry : file.entries())
        if (is_parameter_type(entry.dtype)) values_of(entry);
    });
  };
  const auto message = [&] {
    const std::string text = message_of([&] { return SafetensorsFile::read(path); });
    if (message_of([&] { return SafetensorsFile::open(path); }) != text) FAIL_CHECK(text);
    return text;
  };
  for (const std::string& whole : {two_tensors, many_types, odd_name}) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out | std::ios::trunc);
    for (const char byte : whole) {
      if (!message().starts_with("gpunet::io: ")) FAIL_CHECK(file.tellp() << " bytes");
      file << byte << std::flush;
    }
    CHECK(message().empty());
    std::size_t good = 0;
    for (std::size_t i = 0; i < 8 * whole.size(); ++i) {
      file.seekp(static_cast<std::streamoff>(i / 8))
          .put(static_cast<char>(whole[i / 8] ^ (1 << i % 8)))
          .flush();
      const std::string text = message();
      good += text.empty();
      if (!text.empty() && !text.starts_with("gpunet::io: ")) FAIL_CHECK(text);
      file.seekp(static_cast<std::streamoff>(i / 8)).put(whole[i / 8]).flush();
    }
    CHECK(good >= 8 * 4);  // at least what changes numbers only
  }
}

TEST_CASE("every byte of a header at every value is an Error or a header") {
  std::string text = odd_name.substr(8, odd_name.size() - 12);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char before = text[i];
    for (int value = 0; value < 256; ++value) {
      text[i] = static_cast<char>(value);
      try {
        const auto header = io::detail::read_header(text, 4, "x");
        if (header.tensors.size() != 1) FAIL_CHECK(text);
      } catch (const Error&) {
      }
    }
    text[i] = before;
  }
}

TEST_CASE("files of other programs are read") {
  const char* data = std::getenv("GPUNET_TEST_DATA");
  if (!data) {
    MESSAGE("skipped: GPUNET_TEST_DATA is not set");
    return;
  }
  const SafetensorsFile small = SafetensorsFile::read(data + "/safetensors/overall.safetensors"s);
  REQUIRE(small.entries().size() == 9);
  CHECK(small.metadata() == io::Metadata{{"test", "a"}});
  for (const TensorEntry& entry : small.entries())
    CHECK(entry.sizes == Sizes{6});
  const SafetensorsFile of_bytes = SafetensorsFile::read(data + "/safetensors/b.safetensors"s);
  CHECK(of_bytes.entries().at(0).dtype == Dtype::I8);

  const SafetensorsFile mnist = SafetensorsFile::read(data + "/weights/mnist_bn.safetensors"s);
  CHECK(mnist.entries().size() == 20);
  const TensorEntry& bias = mnist.entries()[2];
  CHECK(bias.name == "conv1.bias");
  // safetensors.numpy.load_file(...)["conv1.bias"]
  CHECK(values_of(bias) == std::vector<double>{0.10854442f, -0.008910009f, 0.036622122f,
                                               0.09148739f, 0.018851554f, -0.048721313f,
                                               -0.31526193f, 0.08375561f});
}
